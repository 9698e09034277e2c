// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/otlpjson"
)

// inSpan and inValue are requests with something in them.
func inSpan(members string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[{` + members + `}]}]}]}`
}

func inValue(value string) string {
	return inSpan(`"attributes":[{"key":"k","value":` + value + `}]`)
}

// What is in doubt is read by the general decoder all the same.
func TestDoubtfulIsRead(t *testing.T) {
	for _, text := range []string{
		inSpan(`"kind":"SPAN_KIND_CLIENT","name":"a\nb"`), inSpan(`"name":"a\nb","unknown":{"a":[1,"\n"]}`), inSpan(`"name":"a\nb","attributes":null`), inValue(`{"stringValue":"a\nb","bytesValue":"AA=="}`),
	} {
		_, quick := otlpjson.Traces([]byte(text))
		require.False(t, quick, text)
		var u ptrace.JSONUnmarshaler
		want, err := u.UnmarshalTraces([]byte(text))
		require.NoError(t, err)
		got, err := request([]byte(text))
		require.NoError(t, err)
		require.Equal(t, string(jsonOf(t, want)), string(jsonOf(t, got)))
	}
}

// Objects that stand side by side are all read, whatever is between them and
// however long the line is; what is none is told of.
func TestObjectsSideBySide(t *testing.T) {
	short, long := inSpan(`"name":"a"`), inSpan(`"name":"`+strings.Repeat("a", 2*headSize)+`"`)
	for _, object := range []string{short, long} {
		for _, before := range []string{"", string(byteOrderMark), short + "\n"} {
			for _, end := range []string{"", "\n", "\r\n"} {
				for between, broken := range map[string]int{"": 0, " ": 0, "  ": 0, "\t": 0, "\r": 0, ",": 1, "x": 1} {
					text := before + object + between + object + end
					spans, told := 0, 0
					require.NoError(t, Read([]string{"-"}, strings.NewReader(text), 1, Handler{
						Traces: func(td ptrace.Traces, _ Place) error { spans += td.SpanCount(); return nil },
						Broken: func(*Error) error { told++; return nil },
					}))
					require.Equal(t, broken, told, "%q", text)
					require.Equal(t, strings.Count(before, "{\"res")+2-broken, spans, "%q", text)
				}
			}
		}
	}
}
