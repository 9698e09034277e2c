// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// A conversation is identified by the id that a span names and, where
// [Options] ask for it, by attributes of the span's resource: two tenants may use
// one id. Both are in one string, so that a conversation can be compared, hashed
// and stored as one; no id holds the separator.
const tenantSeparator = "\x00"

// ConversationID returns the id of a conversation as its spans name it.
func ConversationID(conversation string) string {
	id, _, _ := strings.Cut(conversation, tenantSeparator)
	return id
}

// ConversationName returns a name of a conversation for people: its id, and behind
// an @ the attributes of the resource that belong to its identity.
func ConversationName(conversation string) string {
	id, tenants, ok := strings.Cut(conversation, tenantSeparator)
	if !ok {
		return id
	}
	return id + "@" + strings.ReplaceAll(tenants, tenantSeparator, ",")
}

// lacksTenant reports whether the resource lacks an attribute that belongs to a
// conversation's identity.
func (d *Decoder) lacksTenant(resource pcommon.Map) bool {
	for _, name := range d.tenants {
		if _, ok := resource.Get(name); !ok {
			return true
		}
	}
	return false
}

// ofTenant bounds a conversation's id and adds the resource's part. An attribute that the
// resource lacks is an empty one.
func (d *Decoder) ofTenant(id string, resource pcommon.Map) string {
	id = BoundedID(strings.ReplaceAll(id, tenantSeparator, "\uFFFD"))
	for _, name := range d.tenants {
		value := ""
		if v, ok := resource.Get(name); ok {
			switch v.Type() {
			case pcommon.ValueTypeStr:
				value = BoundedID(strings.ReplaceAll(v.Str(), tenantSeparator, "\uFFFD"))
			case pcommon.ValueTypeInt:
				value = strconv.FormatInt(v.Int(), 10)
			}
		}
		id += tenantSeparator + value
	}
	return id
}
