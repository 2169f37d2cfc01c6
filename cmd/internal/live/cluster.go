package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"logdir/store"
	"logdir/store/checkpoint"
)

// Times of a client, in Kafka's properties and in ours.
const (
	defaultDeliveryTimeout    = 30 * time.Second // without any progress
	defaultRequestTimeout     = 15 * time.Second
	defaultTransactionTimeout = 60 * time.Second
	dialTimeout               = 5 * time.Second
)

// Cluster is a running cluster.
type Cluster struct {
	client  *kgo.Client
	servers []string

	// ID is the cluster's id.
	ID string

	delivery, request, transaction time.Duration
}

// Connect reaches a cluster. servers come before those of the properties.
func Connect(ctx context.Context, servers []string, p Properties) (*Cluster, error) {
	if len(servers) == 0 {
		servers = p.Servers()
	}
	c := &Cluster{servers: servers}
	if err := c.times(p); err != nil {
		return nil, err
	}
	opts, err := p.options()
	if err != nil {
		return nil, err
	}
	opts = append([]kgo.Opt{
		kgo.SeedBrokers(servers...), kgo.ClientID("logdir"), kgo.MaxVersions(versions()),
		kgo.RequestRetries(3), kgo.RetryTimeout(c.request), kgo.DialTimeout(dialTimeout),
		kgo.RequestTimeoutOverhead(c.request), kgo.MetadataMinAge(time.Second),
		kgo.BrokerMaxReadBytes(1 << 30),
	}, opts...)
	if c.client, err = kgo.NewClient(opts...); err != nil {
		return nil, store.Errorf(store.Usage, "INVALID_CONFIG", "%s: %w", strings.Join(servers, ","), err)
	}
	if err := c.reach(ctx); err != nil {
		c.client.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) times(p Properties) (err error) {
	if c.delivery, err = p.duration("delivery.timeout.ms", defaultDeliveryTimeout); err != nil {
		return err
	}
	if c.request, err = p.duration("request.timeout.ms", defaultRequestTimeout); err != nil {
		return err
	}
	c.transaction, err = p.duration("transaction.timeout.ms", defaultTransactionTimeout)
	return err
}

// versions are the requests as they are sent. Transactions are held to the protocol before
// KIP-890's second part, in which partitions and offsets are added by requests of their
// own: every broker since 0.11 knows it, and so the steps are the same everywhere. Offsets
// are asked for and committed by the names of topics, not by their ids.
func versions() *kversion.Versions {
	v := kversion.Stable()
	for key, most := range map[kmsg.Key]int16{
		kmsg.Produce: 11, kmsg.AddPartitionsToTxn: 3, kmsg.AddOffsetsToTxn: 3,
		kmsg.TxnOffsetCommit: 4, kmsg.EndTxn: 4, kmsg.OffsetCommit: 9, kmsg.OffsetFetch: 9,
	} {
		v.SetMaxKeyVersion(key.Int16(), most)
	}
	return v
}

// reach asks for the cluster's id, and so finds out whether there is one.
func (c *Cluster) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.request)
	defer cancel()
	resp, err := c.metadata(ctx, nil)
	if err != nil {
		return c.unreachable(err)
	}
	if resp.ClusterID != nil {
		c.ID = *resp.ClusterID
	}
	return nil
}

// Close ends the connections.
func (c *Cluster) Close() { c.client.Close() }

// metadata asks about topics; nil asks about none.
func (c *Cluster) metadata(ctx context.Context, topics []string) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = new(name)
		req.Topics = append(req.Topics, t)
	}
	return req.RequestWith(ctx, c.client)
}

// Topic is a topic of a running cluster.
type Topic struct {
	Name string
	ID   checkpoint.UUID
	// Leaders are the brokers that lead the partitions, -1 where there is none.
	Leaders []int32
	Configs map[string]string // nil if they could not be read
}

// Topics looks topics up; those that are not there are not in the result.
func (c *Cluster) Topics(ctx context.Context, names []string) (map[string]*Topic, error) {
	out := map[string]*Topic{}
	if len(names) == 0 {
		return out, nil
	}
	resp, err := c.metadata(ctx, names)
	if err != nil {
		return nil, c.worded(err)
	}
	for _, t := range resp.Topics {
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case err == nil:
			out[*t.Topic] = topicOf(t)
		case t.ErrorCode == kerr.UnknownTopicOrPartition.Code:
		default:
			return nil, worded(err, "topic "+*t.Topic)
		}
	}
	return out, nil
}

func topicOf(t kmsg.MetadataResponseTopic) *Topic {
	out := &Topic{Name: *t.Topic, ID: t.TopicID, Leaders: make([]int32, len(t.Partitions))}
	for _, p := range t.Partitions {
		if int(p.Partition) < len(out.Leaders) && p.Partition >= 0 {
			out.Leaders[p.Partition] = p.Leader
		}
	}
	return out
}

// ReadConfigs fills the configs of topics in; whoever may not read them learns none.
func (c *Cluster) ReadConfigs(ctx context.Context, topics map[string]*Topic) error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for name := range topics {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, name
		req.Resources = append(req.Resources, r)
	}
	if len(req.Resources) == 0 {
		return nil
	}
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return c.worded(err)
	}
	for _, r := range resp.Resources {
		t := topics[r.ResourceName]
		if t == nil || r.ErrorCode != 0 {
			continue
		}
		t.Configs = map[string]string{}
		for _, v := range r.Configs {
			if v.Value != nil {
				t.Configs[v.Name] = *v.Value
			}
		}
	}
	return nil
}

// NewTopic is a topic to be made.
type NewTopic struct {
	Name        string
	Partitions  int32
	Replication int16 // -1: the cluster's default
	Configs     map[string]string
}

// CreateTopics makes topics, and waits until each has its leaders. With only check they
// are only looked over.
func (c *Cluster) CreateTopics(ctx context.Context, topics []NewTopic, check bool) error {
	if len(topics) == 0 {
		return nil
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.ValidateOnly, req.TimeoutMillis = check, int32(c.request.Milliseconds())
	for _, n := range topics {
		req.Topics = append(req.Topics, n.request())
	}
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return c.worded(err)
	}
	for _, t := range resp.Topics {
		if t.ErrorCode != 0 {
			return worded(withMessage(t.ErrorCode, t.ErrorMessage), "topic "+t.Topic)
		}
	}
	if check {
		return nil
	}
	return c.awaitLeaders(ctx, topics)
}

func (n NewTopic) request() kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = n.Name, n.Partitions, n.Replication
	for name, value := range n.Configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = name, new(value)
		t.Configs = append(t.Configs, c)
	}
	return t
}

// awaitLeaders waits until every partition of the topics is led.
func (c *Cluster) awaitLeaders(ctx context.Context, topics []NewTopic) error {
	ctx, cancel := context.WithTimeout(ctx, c.delivery)
	defer cancel()
	names := make([]string, len(topics))
	for i, n := range topics {
		names[i] = n.Name
	}
	for {
		found, err := c.Topics(ctx, names)
		if err == nil && len(found) == len(names) && led(found) {
			return nil
		}
		if sleep(ctx, 100*time.Millisecond) != nil {
			return store.Errorf(store.NotAcked, "LEADER_NOT_AVAILABLE", "the topics are made, but not all partitions have a leader yet")
		}
	}
}

func led(topics map[string]*Topic) bool {
	for _, t := range topics {
		if len(t.Leaders) == 0 || slices.Contains(t.Leaders, -1) {
			return false
		}
	}
	return true
}

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// patiently tries again as long as an error may pass: the first question after a group, say,
// makes the cluster set its coordinator up.
func (c *Cluster) patiently(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, c.delivery)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := try()
		if err == nil || !retriable(err) || sleep(ctx, wait) != nil {
			return c.worded(err)
		}
	}
}
