// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package jsonvaluetest makes JSON texts for tests and benchmarks.
package jsonvaluetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Result returns a JSON text of about size bytes as tools return it: an object with a
// list of records, compact, the keys as the author of the tool ordered them.
func Result(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(`{"customer_id":"42","name":"Ada Lovelace","items":[`)
	for i := 0; b.Len() < size-60; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"sku":"A-%04d","title":"Part %d for the \"engine\"","qty":%d,"price":%.2f,"in_stock":%t}`,
			i, random.IntN(1000), random.IntN(9), float64(random.IntN(99999))/100, i%2 == 0)
	}
	b.WriteString(`],"total":3}`)
	return b.String()
}

// UntidyResult returns about the same data with white space, needless escapes, and the
// keys of every record in another order.
func UntidyResult(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("{\n  \"customer_id\": \"42\",\n  \"name\": \"Ada Lovelace\",\n  \"items\": [")
	for i := 0; b.Len() < size-60; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		members := []string{
			fmt.Sprintf(`"sku": "A-%04d"`, i),
			fmt.Sprintf(`"title": "Pi\u00e8ce %d \/ \"engine\""`, random.IntN(1000)),
			fmt.Sprintf(`"qty": %d`, random.IntN(9)),
			fmt.Sprintf(`"price": %.2f`, float64(random.IntN(99999))/100),
			fmt.Sprintf(`"in_stock": %t`, i%2 == 0),
		}
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		b.WriteString("\n    {\n      " + strings.Join(members, ",\n      ") + "\n    }")
	}
	b.WriteString("\n  ],\n  \"total\": 3\n}\n")
	return b.String()
}
