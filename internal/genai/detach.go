// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "go.opentelemetry.io/collector/pdata/pcommon"

// Detach makes the facts independent of the pdata that they were read from,
// which may change or be used again afterwards. Of the span's and the resource's
// attributes only the named ones are kept: Attribute and ResourceAttribute find
// no others.
func (s *Span) Detach(attributes, resource []string) {
	s.detached = s.Attributes()
	s.attributes = keep(s.attributes, attributes)
	s.resource = keep(s.resource, resource)
}

// Bare returns s as the facts of a span of which only the number of attributes
// and the hash of the name were kept.
func Bare(s Span, attributes int, nameHash uint64) Span {
	s.detached, s.nameHash = attributes, nameHash
	return s
}

// keep copies the named attributes; there is no map if there are none.
func keep(from pcommon.Map, names []string) (kept pcommon.Map) {
	if from == (pcommon.Map{}) {
		return kept
	}
	for _, name := range names {
		v, ok := from.Get(name)
		if !ok {
			continue
		}
		if kept == (pcommon.Map{}) {
			kept = pcommon.NewMap()
		}
		v.CopyTo(kept.PutEmpty(name))
	}
	return kept
}
