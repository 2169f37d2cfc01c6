package live

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"logdir/store"
	"logdir/store/checkpoint"
)

// Properties are settings of a Kafka client, under Kafka's names.
type Properties struct {
	values  checkpoint.Properties
	file    string
	unknown []string
}

// knownProperties are those that are followed.
var knownProperties = []string{
	"bootstrap.servers", "client.id", "compression.type", "delivery.timeout.ms", "request.timeout.ms",
	"transaction.timeout.ms",
	"security.protocol", "sasl.mechanism", "sasl.jaas.config",
	"ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.certificates",
	"ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.certificate.chain", "ssl.keystore.key",
	"ssl.key.password", "ssl.endpoint.identification.algorithm",
}

// ParseProperties reads a client properties file. Errors name the file.
func ParseProperties(file string, data []byte) (Properties, error) {
	values, err := checkpoint.ParseProperties(data)
	p := Properties{values: values, file: file}
	if err != nil {
		return p, p.errorf("%w", err)
	}
	for _, v := range values {
		if !slices.Contains(knownProperties, v.Key) {
			p.unknown = append(p.unknown, v.Key)
		}
	}
	return p, nil
}

// Ignored are the properties of the file that mean nothing here.
func (p Properties) Ignored() []string { return p.unknown }

func (p Properties) errorf(format string, args ...any) error {
	e := store.Errorf(store.Usage, "INVALID_CONFIG", format, args...)
	e.Msg = p.file + ": " + e.Msg
	return e
}

// get is a property without the blanks around it; passwords may end in blanks.
func (p Properties) get(name string) string {
	v, _ := p.values.Get(name)
	return strings.TrimSpace(v)
}

// Servers are bootstrap.servers.
func (p Properties) Servers() []string {
	if s := p.get("bootstrap.servers"); s != "" {
		return strings.Split(s, ",")
	}
	return nil
}

// duration is a property in ms, or otherwise.
func (p Properties) duration(name string, otherwise time.Duration) (time.Duration, error) {
	text := p.get(name)
	if text == "" {
		return otherwise, nil
	}
	ms, err := strconv.ParseInt(text, 10, 31)
	if err != nil || ms <= 0 {
		return 0, p.errorf("%s %q is no number of milliseconds", name, text)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// options are the properties as franz-go takes them.
func (p Properties) options() ([]kgo.Opt, error) {
	protocol := strings.ToUpper(p.get("security.protocol"))
	var opts []kgo.Opt
	if id := p.get("client.id"); id != "" {
		opts = append(opts, kgo.ClientID(id))
	}
	switch protocol {
	case "", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return nil, p.errorf("security.protocol %q: want PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", protocol)
	}
	if strings.HasSuffix(protocol, "SSL") {
		config, err := p.tls()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(config))
	}
	if strings.HasPrefix(protocol, "SASL") {
		mechanism, err := p.sasl()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(mechanism))
	}
	return opts, nil
}

// sasl is the mechanism with the user and password of sasl.jaas.config.
func (p Properties) sasl() (sasl.Mechanism, error) {
	user, password, err := parseJAAS(p.get("sasl.jaas.config"))
	if err != nil {
		return nil, p.errorf("%w", err)
	}
	switch mechanism := p.get("sasl.mechanism"); mechanism {
	case "PLAIN":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism(), nil
	default:
		return nil, p.errorf("sasl.mechanism %q: want PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", mechanism)
	}
}

// parseJAAS reads the options of the one login module in a JAAS configuration:
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required
//	  username="alice" password="alice-secret";
func parseJAAS(text string) (user, password string, err error) {
	options := map[string]string{}
	for rest := text; ; {
		before, after, more := strings.Cut(rest, "=")
		if !more {
			break
		}
		words := strings.Fields(before)
		value, behind, ok := jaasValue(strings.TrimLeft(after, " \t\n"))
		if len(words) == 0 || !ok {
			return "", "", errJAAS
		}
		options[words[len(words)-1]], rest = value, behind
	}
	user, password = options["username"], options["password"]
	if user == "" {
		return "", "", errJAAS
	}
	return user, password, nil
}

var errJAAS = errors.New(`sasl.jaas.config: want MODULE required username="..." password="...";`)

// jaasValue reads a value in quotes, with backslash escapes, or a bare word.
func jaasValue(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, " \t\n;")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], end > 0
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// tls is the TLS configuration of the ssl.* properties. Stores are PEM: files, or texts in
// the properties themselves.
func (p Properties) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := p.trust(config); err != nil {
		return nil, err
	}
	if err := p.identity(config); err != nil {
		return nil, err
	}
	if name, ok := p.values.Get("ssl.endpoint.identification.algorithm"); ok && strings.TrimSpace(name) == "" {
		anyHostName(config)
	}
	return config, nil
}

// pem is what a store of the properties holds: the file at location, or inline.
func (p Properties) pem(store, inline string) ([]byte, error) {
	if text := p.get(inline); text != "" {
		return []byte(text), nil
	}
	location := p.get(store + ".location")
	if location == "" {
		return nil, nil
	}
	if kind := p.get(store + ".type"); kind != "PEM" {
		return nil, p.errorf("%s.type %s: only PEM is read; openssl pkcs12 -in STORE.p12 -nodes makes one, for a Java key store after keytool -importkeystore -deststoretype PKCS12",
			store, orJKS(kind))
	}
	data, err := os.ReadFile(location)
	if err != nil {
		return nil, p.errorf("%s.location: %w", store, err)
	}
	return data, nil
}

func orJKS(kind string) string {
	if kind == "" {
		return "JKS"
	}
	return kind
}

// trust sets whose certificates are believed; without a store the system's.
func (p Properties) trust(config *tls.Config) error {
	data, err := p.pem("ssl.truststore", "ssl.truststore.certificates")
	if err != nil || data == nil {
		return err
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(data) {
		return p.errorf("ssl.truststore: no certificate in it")
	}
	return nil
}

// identity sets the certificate that the broker may ask for.
func (p Properties) identity(config *tls.Config) error {
	chain, err := p.pem("ssl.keystore", "ssl.keystore.certificate.chain")
	if err != nil || chain == nil {
		return err
	}
	if p.get("ssl.key.password") != "" {
		return p.errorf("ssl.key.password: encrypted keys are not read; openssl pkey -in KEY.pem -out PLAIN.pem decrypts one")
	}
	key := chain
	if text := p.get("ssl.keystore.key"); text != "" {
		key = []byte(text)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return p.errorf("ssl.keystore: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return nil
}

// anyHostName checks the broker's certificate but not for whom it is, as an empty
// ssl.endpoint.identification.algorithm asks for.
func anyHostName(config *tls.Config) {
	roots := config.RootCAs
	config.InsecureSkipVerify = true // VerifyConnection does it all but for the name
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the broker shows no certificate")
		}
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		if _, err := s.PeerCertificates[0].Verify(o); err != nil {
			return fmt.Errorf("the broker's certificate: %w", err)
		}
		return nil
	}
}
