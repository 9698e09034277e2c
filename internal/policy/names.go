// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"
)

// AttributeNames returns the names of all span attributes and all resource
// attributes that templates and rules may read, sorted. Whoever keeps spans for
// later need not keep others.
func (p *Policy) AttributeNames() (span, resource []string) {
	of := [2]map[string]struct{}{{}, {}}
	read := func(t *Template) {
		if t == nil {
			return
		}
		for i := range t.parts {
			part := &t.parts[i]
			if part.bare || part.root != RootAttributes && part.root != RootResource {
				continue
			}
			names := of[0]
			if part.root == RootResource {
				names = of[1]
			}
			for _, key := range part.keys {
				names[key] = struct{}{}
			}
		}
	}
	for _, c := range p.Contracts {
		for _, t := range append([]*Template{
			c.SourceRef, c.TargetRef,
			c.Observation.SourceRef, c.Observation.TargetRef, c.Observation.SourceVersion, c.Observation.ObservedAt,
		}, c.Observation.EvidenceRefs...) {
			read(t)
		}
	}
	for _, proto := range p.Protocols {
		for _, rule := range proto.Events {
			read(rule.Label)
			for _, a := range rule.Attributes {
				of[0][a.Name] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(of[0])), slices.Sorted(maps.Keys(of[1]))
}
