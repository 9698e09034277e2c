// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// jsonResult makes a tool's result of about size bytes about a customer, in the way
// that tools answer: compact, the keys as the tool's author wrote them.
func jsonResult(size, customer int) string {
	random := rand.New(rand.NewPCG(1, uint64(customer)))
	var b strings.Builder
	fmt.Fprintf(&b, `{"customer_id":"%d","name":"Ada Lovelace","items":[`, customer)
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

// canonicalResult is the same in canonical form.
func canonicalResult(size, customer int) (string, error) {
	v, err := jsonvalue.Parse(jsonResult(size, customer))
	if err != nil {
		return "", err
	}
	text, err := v.AppendCanonical(nil)
	return string(text), err
}

// untidyResult says much the same with white space, escapes that are not needed, and
// keys in another order in every record.
func untidyResult(size, customer int) string {
	random := rand.New(rand.NewPCG(1, uint64(customer)))
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"customer_id\": \"%d\",\n  \"name\": \"Ada Lovelace\",\n  \"items\": [", customer)
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

func textResult(size int) string {
	return strings.Repeat("The order was found and is on its way. ", size/39+1)[:size]
}

// mcpResult is what an MCP server answers: a document with the result twice, as a text
// and as it is.
func mcpResult(size, customer int) (string, error) {
	result := jsonResult(size*4/10, customer) // quotes are escaped in the text
	text, err := json.Marshal(result)
	return `{"content":[{"type":"text","text":` + string(text) + `}],"structuredContent":` + result + `,"isError":false}`, err
}
