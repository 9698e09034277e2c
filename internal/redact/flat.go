// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// flatFields returns the kinds of the attributes that are fields of flattened messages.
// The kind depends on other attributes: the message's role, the part's type.
func (r *Redactor) flatFields(m pcommon.Map) map[string]kind {
	var fields map[string]kind
	for key := range m.All() {
		prefix := r.decoder.FlatPrefix(key)
		if prefix == "" {
			continue
		}
		if fields == nil {
			fields = map[string]kind{}
		}
		fields[key] = flatField(m, prefix, key)
	}
	return fields
}

func flatField(m pcommon.Map, prefix, key string) kind {
	steps := strings.Split(key[len(prefix):], ".")
	last := steps[len(steps)-1]
	message := prefix + steps[0]
	role := genai.UnknownRole
	for _, name := range [...]string{message + ".role", message + ".message.role", message + ".message.type", message + ".type"} {
		if v, ok := m.Get(name); ok && role == genai.UnknownRole {
			role = genai.RoleOf(v.AsString())
		}
	}
	var part jsonvalue.Value
	if v, ok := m.Get(strings.TrimSuffix(key, last) + "type"); ok {
		part = jsonvalue.Object(jsonvalue.Member{Key: "type", Value: jsonvalue.String(v.AsString())})
	}
	o := objectOf(part, role)
	for _, step := range steps[:len(steps)-1] {
		if slices.Contains(genai.ReplyWrappers, step) {
			o.facets |= reply
		}
		if slices.Contains(genai.CallWrappers, step) || slices.Contains(genai.CallListKeys, step) {
			o.facets |= call
		}
	}
	if _, err := strconv.Atoi(last); err == nil && len(steps) > 1 { // an element of a list
		last = steps[len(steps)-2]
	}
	switch {
	case o.facets&call != 0 && slices.Contains(genai.ArgumentKeys, last):
		return arguments
	case o.facets&reply != 0 && slices.Contains(resultKeys, last):
		return result
	}
	return messages
}
