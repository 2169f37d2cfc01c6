package store

import (
	"path/filepath"
	"strconv"
)

// The files that tell the kinds of data directories apart.
const (
	ClusterFile   = "cluster.json"
	MiniKafkaFile = "metadata.json"
	brokerPrefix  = "broker-"
)

// BrokerDir is the folder of a broker inside a cluster.
func BrokerDir(data string, broker int32) string {
	return filepath.Join(data, brokerPrefix+strconv.Itoa(int(broker)))
}
