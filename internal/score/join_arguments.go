// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// likeness is what two recordings of arguments say of each other.
type likeness uint8

const (
	unknown   likeness = iota // one was not recorded, or brought out of shape
	alike                     // the same arguments
	different                 // different arguments
)

// compare holds arguments against all that a call is known to have had.
func (c *calls) compare(k *call, other *genai.Content) likeness {
	b := c.t.args(other)
	if !b.known || b.masked {
		return unknown
	}
	found := unknown
	for _, content := range k.arguments {
		if a := c.t.args(content); a.known && !a.masked {
			switch compareArguments(a.value, b.value) {
			case different:
				return different
			case alike:
				found = alike
			}
		}
	}
	return found
}

// compareArguments compares arguments as data. Instrumentations bring them out
// of shape: the only value of an object alone ("42" for {"id": "42"}), values in
// a list without their names, a server's request extras after them.
func compareArguments(a, b jsonvalue.Value) likeness {
	if a.Kind() == b.Kind() {
		if jsonvalue.Equal(a, b) {
			return alike
		}
		return different
	}
	if b.Kind() == jsonvalue.ObjectKind {
		a, b = b, a
	}
	if a.Kind() != jsonvalue.ObjectKind {
		return unknown
	}
	switch {
	case b.Kind() == jsonvalue.ArrayKind:
		return compareList(a, b)
	case a.Len() == 1:
		_, only := a.Member(0)
		x, okX := only.Scalar()
		y, okY := b.Scalar()
		if okX && okY {
			if x == y {
				return alike
			}
			return different
		}
	}
	return unknown
}

// compareList compares an object with a list that may hold it, or its values.
func compareList(object, list jsonvalue.Value) likeness {
	if list.Len() > 0 && list.Index(0).Kind() == jsonvalue.ObjectKind {
		if jsonvalue.Equal(object, list.Index(0)) {
			return alike
		}
		return different
	}
	if list.Len() != object.Len() {
		return unknown
	}
	for i := 0; i < list.Len(); i++ {
		if _, v := object.Member(i); !jsonvalue.Equal(v, list.Index(i)) {
			return unknown
		}
	}
	return alike
}

// sameTool compares the names of tools; one that is not known fits any.
func sameTool(a, b string) bool { return a == b || a == "" || b == "" }

// namedFor reports whether a tool's name is another's behind a prefix, as
// clients of several MCP servers make them: crm__search, mcp.crm.search.
func namedFor(long, short string) bool {
	if short == "" || !strings.HasSuffix(long, short) || len(long) < len(short)+2 {
		return false
	}
	return strings.IndexByte("_.-:/", long[len(long)-len(short)-1]) >= 0
}
