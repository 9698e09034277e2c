// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"slices"
	"sort"
	"strings"
)

// settle drops all but the last of equal keys and computes the key order.
func (c *composite) settle() {
	c.order()
	repeated := false
	for i := 1; i < len(c.sorted); i++ {
		if c.same(c.sorted[i-1], c.sorted[i]) {
			repeated = true
			break
		}
	}
	if !repeated {
		return
	}
	// The order is stable: of a run of equal keys the first one keeps its place
	// and takes the value of the last.
	dropped := make([]bool, len(c.members))
	for i := 0; i < len(c.sorted); {
		first, j := c.sorted[i], i+1
		for ; j < len(c.sorted) && c.same(first, c.sorted[j]); j++ {
			dropped[c.sorted[j]] = true
		}
		c.members[first].Value = c.members[c.sorted[j-1]].Value
		i = j
	}
	kept := 0
	for i := range c.members {
		if dropped[i] {
			continue
		}
		c.members[kept] = c.members[i]
		if c.odd != nil {
			c.odd[kept] = c.odd[i]
		}
		kept++
	}
	c.members = c.members[:kept]
	if c.odd != nil {
		c.odd = c.odd[:kept]
	}
	c.order()
}

func (c *composite) order() {
	c.sorted = make([]uint32, len(c.members))
	for i := range c.sorted {
		c.sorted[i] = uint32(i)
	}
	slices.SortStableFunc(c.sorted, func(a, b uint32) int {
		if n := strings.Compare(c.members[a].Key, c.members[b].Key); n != 0 || c.odd == nil || c.odd[a] == c.odd[b] {
			return n
		}
		if c.odd[b] { // "1" and 1 are different keys
			return -1
		}
		return 1
	})
}

func (c *composite) same(a, b uint32) bool {
	return c.members[a].Key == c.members[b].Key && (c.odd == nil || c.odd[a] == c.odd[b])
}

func (c *composite) get(key string) (Value, bool) {
	i := sort.Search(len(c.sorted), func(i int) bool { return c.members[c.sorted[i]].Key >= key })
	if i == len(c.sorted) {
		return Value{}, false
	}
	at := c.sorted[i]
	if c.members[at].Key != key || c.odd != nil && c.odd[at] {
		return Value{}, false
	}
	return c.members[at].Value, true
}
