package flagval

import (
	"errors"
	"strings"
)

// KeyValue is one NAME=VALUE.
type KeyValue struct{ Key, Value string }

// KeyValues is a repeatable flag of NAME=VALUE. The order is kept.
type KeyValues []KeyValue

// String lists the pairs.
func (k *KeyValues) String() string { return strings.Join(k.GetSlice(), ",") }

// Type names the value in help.
func (k *KeyValues) Type() string { return "name=value" }

// Set adds one pair.
func (k *KeyValues) Set(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return errors.New("want NAME=VALUE")
	}
	*k = append(*k, KeyValue{key, value})
	return nil
}

// Append adds one pair.
func (k *KeyValues) Append(s string) error { return k.Set(s) }

// Replace takes a new list.
func (k *KeyValues) Replace(list []string) error {
	*k = nil
	for _, s := range list {
		if err := k.Set(s); err != nil {
			return err
		}
	}
	return nil
}

// GetSlice lists the pairs.
func (k *KeyValues) GetSlice() []string {
	list := make([]string, len(*k))
	for i, kv := range *k {
		list[i] = kv.Key + "=" + kv.Value
	}
	return list
}

// Map is the pairs by name; a later one wins.
func (k KeyValues) Map() map[string]string {
	m := make(map[string]string, len(k))
	for _, kv := range k {
		m[kv.Key] = kv.Value
	}
	return m
}
