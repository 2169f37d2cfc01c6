package live

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"logdir/store"
	"logdir/store/record"
)

// outgoing is one batch on its way to a partition.
type outgoing struct {
	to      store.TopicPartition
	frame   []byte
	records int
	runs    []run // of the source's offsets; targets count from the start of the batch
}

// last is the last offset of the source in the batch.
func (o *outgoing) last() int64 { return o.runs[len(o.runs)-1].last }

// source is the offset of record number i in the source.
func (o *outgoing) source(i int) int64 {
	for _, r := range o.runs {
		if int64(i) < r.target+r.count() {
			return r.first + int64(i) - r.target
		}
	}
	return o.last()
}

// rejected says that a broker refused one batch.
type rejected struct {
	batch *outgoing
	err   error
	at    int // number of the record that it names, or -1
}

func (r *rejected) Error() string { return r.err.Error() }
func (r *rejected) Unwrap() error { return r.err }

// mark is a committed offset and the text beside it.
type mark struct {
	offset   int64 // -1 if none is committed
	metadata string
}

// transactions is what an export needs of a cluster: a transactional producer that commits
// offsets of one group along with its records.
type transactions interface {
	// open makes this the only producer of its id, and aborts what is open.
	open(ctx context.Context) error
	// committed reads the marks of partitions, and waits for a transaction that is just
	// being completed.
	committed(ctx context.Context, of []store.TopicPartition) (map[store.TopicPartition]mark, error)
	// producer is what batches must say of the producer, since the last open.
	producer() record.Meta
	// produce writes batches, at most one of each partition, and gives their base offsets.
	produce(ctx context.Context, batches []*outgoing) ([]int64, error)
	// commit makes records and marks visible, all or none. After an error nobody knows:
	// open, and then committed, tell.
	commit(ctx context.Context, marks map[store.TopicPartition]mark) error
}

// transactor is a transactional producer on a cluster.
type transactor struct {
	*Cluster
	id      string // transactional id and group
	pid     int64
	epoch   int16
	added   map[store.TopicPartition]bool // to the open transaction
	leaders map[string]*Topic
	topics  []string
}

func newTransactor(c *Cluster, name string, topics []string) *transactor {
	return &transactor{Cluster: c, id: groupPrefix + name, pid: -1, epoch: -1, topics: topics}
}

// groupPrefix stands before the name of an export in its group and its transactional id.
const groupPrefix = "logdir-export-"

func (t *transactor) open(ctx context.Context) error {
	t.added = map[store.TopicPartition]bool{}
	var err error
	if t.leaders, err = t.Topics(ctx, t.topics); err != nil {
		return err
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &t.id, int32(t.transaction.Milliseconds())
	// With the id of before, only somebody newer is refused, not whom a timeout has ended.
	req.ProducerID, req.ProducerEpoch = t.pid, t.epoch
	err = t.again(ctx, func() error {
		resp, err := req.RequestWith(ctx, t.client)
		if err != nil {
			return err
		}
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return err
		}
		t.pid, t.epoch = resp.ProducerID, resp.ProducerEpoch
		return nil
	})
	switch {
	case t.pid >= 0 && (errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch)):
		return store.Errorf(store.Fenced, kerr.ProducerFenced.Message, "another export runs as %s", t.id).
			WithHint("wait for it, or name another --id")
	case errors.Is(err, kerr.InvalidProducerIDMapping): // the cluster has forgotten the producer
		t.pid, t.epoch = -1, -1
	}
	return err
}

// again repeats a request as long as the transaction before is still being completed.
func (t *transactor) again(ctx context.Context, try func() error) error {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := try()
		if !errors.Is(err, kerr.ConcurrentTransactions) {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (t *transactor) producer() record.Meta {
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.Transactional = t.pid, int32(t.epoch), true
	return m
}

func (t *transactor) committed(ctx context.Context, of []store.TopicPartition) (map[store.TopicPartition]mark, error) {
	return t.Cluster.committed(ctx, t.id, of, true)
}

// produce adds new partitions to the transaction and sends each broker its batches.
func (t *transactor) produce(ctx context.Context, batches []*outgoing) ([]int64, error) {
	if err := t.add(ctx, batches); err != nil {
		return nil, err
	}
	byBroker := map[int32][]int{}
	for i, b := range batches {
		leader, err := t.leader(b.to)
		if err != nil {
			return nil, err
		}
		byBroker[leader] = append(byBroker[leader], i)
	}
	bases := make([]int64, len(batches))
	errs := make(chan error, len(byBroker))
	for broker, mine := range byBroker {
		go func() { errs <- t.send(ctx, broker, batches, mine, bases) }()
	}
	var first error
	for range byBroker {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return bases, first
}

func (t *transactor) leader(tp store.TopicPartition) (int32, error) {
	topic := t.leaders[tp.Topic]
	if topic == nil || int(tp.Partition) >= len(topic.Leaders) {
		return 0, kerr.UnknownTopicOrPartition
	}
	if leader := topic.Leaders[tp.Partition]; leader >= 0 {
		return leader, nil
	}
	return 0, kerr.LeaderNotAvailable
}

// add adds the partitions of batches to the transaction.
func (t *transactor) add(ctx context.Context, batches []*outgoing) error {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = t.id, t.pid, t.epoch
	var fresh []store.TopicPartition
	for _, b := range batches {
		if !t.added[b.to] {
			fresh = append(fresh, b.to)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	for topic, partitions := range byTopic(fresh) {
		r := kmsg.NewAddPartitionsToTxnRequestTopic()
		r.Topic, r.Partitions = topic, partitions
		req.Topics = append(req.Topics, r)
	}
	err := t.again(ctx, func() error {
		resp, err := req.RequestWith(ctx, t.client)
		if err != nil {
			return err
		}
		return firstError(resp)
	})
	for _, tp := range fresh {
		t.added[tp] = err == nil
	}
	return err
}

// firstError is the error that counts: where one partition is refused, others are only not
// attempted.
func firstError(resp *kmsg.AddPartitionsToTxnResponse) error {
	var first error
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			err := kerr.ErrorForCode(p.ErrorCode)
			if err != nil && (first == nil || errors.Is(first, kerr.OperationNotAttempted)) {
				first = aboutTopic(err, topic.Topic)
			}
		}
	}
	return first
}

// aboutTopic names the topic that is refused.
func aboutTopic(err error, topic string) error {
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		return worded(err, "topic "+topic)
	}
	return err
}

func byTopic(of []store.TopicPartition) map[string][]int32 {
	m := map[string][]int32{}
	for _, tp := range of {
		m[tp.Topic] = append(m[tp.Topic], tp.Partition)
	}
	return m
}

// send writes the batches numbered mine to one broker, and notes their base offsets.
func (t *transactor) send(ctx context.Context, broker int32, batches []*outgoing, mine []int, bases []int64) error {
	req := kmsg.NewPtrProduceRequest()
	req.TransactionID, req.Acks, req.TimeoutMillis = &t.id, -1, int32(t.request.Milliseconds())
	numbers := map[store.TopicPartition]int{}
	topics := map[string]int{}
	for _, i := range mine {
		to := batches[i].to
		at, ok := topics[to.Topic]
		if !ok {
			at = len(req.Topics)
			topics[to.Topic] = at
			r := kmsg.NewProduceRequestTopic()
			r.Topic = to.Topic
			req.Topics = append(req.Topics, r)
		}
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = to.Partition, batches[i].frame
		req.Topics[at].Partitions = append(req.Topics[at].Partitions, p)
		numbers[to] = i
	}
	resp, err := t.client.Broker(int(broker)).Request(ctx, req)
	if err != nil {
		return err
	}
	for _, topic := range resp.(*kmsg.ProduceResponse).Topics {
		for _, p := range topic.Partitions {
			i, ok := numbers[store.TopicPartition{Topic: topic.Topic, Partition: p.Partition}]
			if !ok {
				continue
			}
			if p.ErrorCode != 0 {
				return reject(batches[i], &p)
			}
			bases[i] = p.BaseOffset
			delete(numbers, batches[i].to)
		}
	}
	if len(numbers) > 0 {
		return errors.New("a broker has left partitions without an answer")
	}
	return nil
}

func reject(b *outgoing, p *kmsg.ProduceResponseTopicPartition) error {
	r := &rejected{batch: b, err: withMessage(p.ErrorCode, p.ErrorMessage), at: -1}
	if len(p.ErrorRecords) > 0 {
		r.at = int(p.ErrorRecords[0].RelativeOffset)
	}
	return r
}

// commit adds the offsets to the transaction and ends it.
func (t *transactor) commit(ctx context.Context, marks map[store.TopicPartition]mark) error {
	if err := t.addOffsets(ctx); err != nil {
		return err
	}
	if err := t.commitOffsets(ctx, marks); err != nil {
		return err
	}
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = t.id, t.pid, t.epoch, true
	err := t.again(ctx, func() error {
		resp, err := req.RequestWith(ctx, t.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	clear(t.added)
	return err
}

func (t *transactor) addOffsets(ctx context.Context) error {
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = t.id, t.pid, t.epoch, t.id
	return t.again(ctx, func() error {
		resp, err := req.RequestWith(ctx, t.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
}

func (t *transactor) commitOffsets(ctx context.Context, marks map[store.TopicPartition]mark) error {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.Group, req.ProducerID, req.ProducerEpoch = t.id, t.id, t.pid, t.epoch
	topics := map[string]int{}
	for tp, m := range marks {
		at, ok := topics[tp.Topic]
		if !ok {
			at = len(req.Topics)
			topics[tp.Topic] = at
			r := kmsg.NewTxnOffsetCommitRequestTopic()
			r.Topic = tp.Topic
			req.Topics = append(req.Topics, r)
		}
		p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.Metadata = tp.Partition, m.offset, &m.metadata
		req.Topics[at].Partitions = append(req.Topics[at].Partitions, p)
	}
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return err
	}
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
