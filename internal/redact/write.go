// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// setValue sets an attribute's value to a JSON value.
func setValue(to pcommon.Value, v jsonvalue.Value) {
	switch v.Kind() {
	case jsonvalue.StringKind:
		to.SetStr(v.Text())
	case jsonvalue.BoolKind:
		to.SetBool(v.Bool())
	case jsonvalue.IntKind:
		if n, ok := v.Int64(); ok {
			to.SetInt(n)
			return
		}
		fallthrough
	case jsonvalue.FloatKind:
		n, _ := v.Float64()
		to.SetDouble(n)
	case jsonvalue.ArrayKind:
		s := to.SetEmptySlice()
		for i := range v.Len() {
			setValue(s.AppendEmpty(), v.Index(i))
		}
	case jsonvalue.ObjectKind:
		m := to.SetEmptyMap()
		for i := range v.Len() {
			key, inner := v.Member(i)
			setValue(m.PutEmpty(key), inner)
		}
	default:
		pcommon.NewValueEmpty().CopyTo(to)
	}
}

// appendJSON appends a value as JSON. The order of keys is kept.
func appendJSON(dst []byte, v jsonvalue.Value) []byte {
	switch v.Kind() {
	case jsonvalue.ArrayKind:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, v.Index(i))
		}
		return append(dst, ']')
	case jsonvalue.ObjectKind:
		dst = append(dst, '{')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			key, inner := v.Member(i)
			dst = append(appendJSON(dst, jsonvalue.String(key)), ':')
			dst = appendJSON(dst, inner)
		}
		return append(dst, '}')
	}
	out, err := v.AppendCanonical(dst)
	if err != nil { // a number that JSON cannot express
		return append(dst, "null"...)
	}
	return out
}
