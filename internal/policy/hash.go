// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
)

// hash sets the hashes of a valid policy and of its protocols. root is the top of
// the file.
func (l *loader) hash(root *yaml.Node, p *Policy) {
	l.cost = 4*treeCost(root) + maxAliasCost
	top, _ := l.data(at{node: root}).(map[string]any)
	if l.stopped {
		return
	}
	delete(top, "schema_version") // 1, which is what a policy without it has
	p.Hash = hashOf(top)

	contracts, _ := top["contracts"].([]any)
	for i := range contracts {
		contracts[i] = deciding(contracts[i])
	}
	protocols, _ := top["protocols"].([]any)
	for i, protocol := range p.Protocols {
		own := deciding(protocols[i])
		// Two ways of writing one automaton are the same protocol.
		delete(own, "protocol")
		delete(own, "states")
		own["automaton"] = protocol.Automaton.Hash()
		if slices.ContainsFunc(protocol.Events, (*EventRule).ReadsVerdict) {
			own["contracts"] = contracts
		}
		protocol.Hash = hashOf(own)
	}
}

// deciding returns a mapping without its metadata, which decides neither which
// events a protocol sees nor how it steps.
func deciding(v any) map[string]any {
	m, _ := v.(map[string]any)
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(key string, _ any) bool { return slices.Contains(metadataKeys, key) })
	return m
}

// hashOf hashes data as JSON with sorted keys and without white space.
func hashOf(data any) string {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(data); err != nil {
		panic(err) // it holds nothing that JSON cannot
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// data returns the value of a node, with aliases and merge keys resolved. Keys
// whose value is null are left out, because null stands for a key that is absent.
func (l *loader) data(a at) any {
	a, ok := l.resolve(a)
	if !ok {
		return nil
	}
	switch a.node.Kind {
	case yaml.MappingNode:
		m := &mapping{at: a}
		l.gather(m, a, 0)
		out := make(map[string]any, len(m.fields))
		for _, f := range m.fields {
			if v := l.data(f.value); v != nil {
				out[f.key.Value] = v
			}
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(a.node.Content))
		for i, n := range a.node.Content {
			out[i] = l.data(at{n, a.path})
		}
		return out
	}
	return scalarData(a.node)
}

// scalarData returns the value of a scalar, the same for every way of writing it.
func scalarData(n *yaml.Node) any {
	var v any
	if n.ShortTag() == "!!str" || n.Decode(&v) != nil {
		return n.Value
	}
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return n.Value
		}
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return v
}
