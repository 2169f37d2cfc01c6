package live

import (
	"errors"
	"strings"
	"testing"
	"time"

	"logdir/store"
)

func TestParseJAAS(t *testing.T) {
	const module = "org.apache.kafka.common.security.plain.PlainLoginModule required "
	for _, tt := range []struct{ text, user, password string }{
		{module + `username="alice" password="secret";`, "alice", "secret"},
		{module + `password="a=b;\" c" username="alice" ;`, "alice", `a=b;" c`},
		{module + "username=alice\n  password=secret;", "alice", "secret"},
		{module + `username="alice" password="";`, "alice", ""},
	} {
		user, password, err := parseJAAS(tt.text)
		if err != nil || user != tt.user || password != tt.password {
			t.Errorf("%s: got %q, %q, %v", tt.text, user, password, err)
		}
	}
	for _, text := range []string{"", module, module + `username="alice`, `="x"`, module + `password="x";`} {
		if _, _, err := parseJAAS(text); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

func TestProperties(t *testing.T) {
	p, err := ParseProperties("client.properties", []byte(`
# how to reach the cluster
bootstrap.servers=a:9092,b:9092
security.protocol = sasl_plaintext
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
  username="alice" password="secret";
delivery.timeout.ms=1500
linger.ms=5
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Servers(), " "); got != "a:9092 b:9092" {
		t.Errorf("servers %s", got)
	}
	if got := p.Ignored(); len(got) != 1 || got[0] != "linger.ms" {
		t.Errorf("ignored %v", got)
	}
	if d, err := p.duration("delivery.timeout.ms", 0); err != nil || d != 1500*time.Millisecond {
		t.Errorf("timeout %v, %v", d, err)
	}
	if _, err := p.options(); err != nil {
		t.Error(err)
	}
}

func TestPropertiesRefused(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"security.protocol=TLS", "want PLAINTEXT, SSL"},
		{"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN", "sasl.jaas.config"},
		{"security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nsasl.jaas.config=m required username=a password=b;", "want PLAIN, SCRAM"},
		{"security.protocol=SSL\nssl.truststore.location=/x/trust.jks", "ssl.truststore.type JKS: only PEM is read"},
		{"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=/nowhere/trust.pem", "no such file"},
		{"security.protocol=SSL\nssl.truststore.certificates=rubbish", "no certificate in it"},
		{"security.protocol=SSL\nssl.keystore.certificate.chain=rubbish\nssl.keystore.key=rubbish", "ssl.keystore"},
		{"security.protocol=SSL\nssl.keystore.certificate.chain=x\nssl.key.password=y", "encrypted keys"},
	} {
		p, err := ParseProperties("client.properties", []byte(tt.text))
		if err == nil {
			_, err = p.options()
		}
		e, ok := errors.AsType[*store.Error](err)
		if !ok || e.Class != store.Usage || !strings.HasPrefix(e.Msg, "client.properties: ") || !strings.Contains(e.Msg, tt.want) {
			t.Errorf("%s: got %v", tt.text, err)
		}
	}
}
