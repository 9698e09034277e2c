// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJUnit(t *testing.T) {
	for _, r := range reports(t) {
		for _, on := range []FailOn{nil, {"violation"}, {"blocked", "unrecognized"}, {"unjudged", "uncaptured", "uncontracted"}} {
			checkJUnit(t, written(t, func(w *bytes.Buffer) error { return r.JUnit(w, on) }))
		}
	}
	golden(t, "junit.xml", written(t, func(w *bytes.Buffer) error { return reports(t)["traces"].JUnit(w, nil) }))
	golden(t, "junit-blocked.xml", written(t, func(w *bytes.Buffer) error { return reports(t)["conversations"].JUnit(w, FailOn{"blocked"}) }))
	golden(t, "junit-unjudged.xml", written(t, func(w *bytes.Buffer) error {
		return reportOf(t, false, sampleInputs, samples()[5:]...).JUnit(w, FailOn{"unjudged", "uncaptured", "uncontracted"})
	}))
	golden(t, "nothing.xml", written(t, func(w *bytes.Buffer) error { return reports(t)["nothing"].JUnit(w, nil) }))
}

// element is what the form that build servers read (the schema of Jenkins'
// xUnit plugin, and Ant's before it) says of one.
type element struct {
	attributes map[string]string // name to type; "!" before the type: required
	children   []string
}

var junitElements = map[string]element{
	"testsuites": {map[string]string{"name": "text", "tests": "!count", "failures": "!count", "errors": "count", "skipped": "count", "time": "number"}, []string{"testsuite"}},
	"testsuite": {map[string]string{
		"name": "!text", "tests": "!count", "failures": "!count", "errors": "!count", "skipped": "count", "time": "!number", "timestamp": "time",
	}, []string{"testcase"}},
	"testcase":   {map[string]string{"classname": "!text", "name": "!text", "time": "!number"}, []string{"properties", "failure", "skipped"}},
	"properties": {nil, []string{"property"}},
	"property":   {map[string]string{"name": "!text", "value": "!text"}, nil},
	"failure":    {map[string]string{"message": "text", "type": "!text"}, nil},
	"skipped":    {map[string]string{"message": "text"}, nil},
}

// checkJUnit holds a document against the form, and its counts against what it
// holds.
func checkJUnit(t *testing.T, text []byte) {
	t.Helper()
	type open struct {
		name               string
		attributes         map[string]string
		outcomes           int
		tests, fails, skip int
	}
	var stack []*open
	names := map[string]bool{}
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			form, ok := junitElements[token.Name.Local]
			require.True(t, ok, token.Name.Local)
			if n := len(stack); n > 0 {
				require.True(t, slices.Contains(junitElements[stack[n-1].name].children, token.Name.Local), "%s in %s", token.Name.Local, stack[n-1].name)
				if name := token.Name.Local; name != "properties" && name != "property" {
					stack[n-1].outcomes++
				}
			} else {
				require.Equal(t, "testsuites", token.Name.Local)
			}
			o := &open{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				kind, ok := form.attributes[a.Name.Local]
				require.True(t, ok, "%s has no attribute %s", token.Name.Local, a.Name.Local)
				o.attributes[a.Name.Local] = a.Value
				switch kind {
				case "count", "!count":
					_, err = strconv.ParseUint(a.Value, 10, 32)
				case "number", "!number":
					_, err = strconv.ParseFloat(a.Value, 64)
				case "time":
					require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`, a.Value)
				}
				require.NoError(t, err)
			}
			for name, kind := range form.attributes {
				if kind[0] == '!' {
					require.NotEmpty(t, o.attributes[name], "%s lacks %s", token.Name.Local, name)
				}
			}
			stack = append(stack, o)
		case xml.EndElement:
			o := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, up := range stack {
				switch o.name {
				case "testcase":
					up.tests++
				case "failure":
					up.fails++
				case "skipped":
					up.skip++
				}
			}
			switch o.name {
			case "testcase":
				require.LessOrEqual(t, o.outcomes, 1)
				key := o.attributes["classname"] + "\x00" + o.attributes["name"]
				require.False(t, names[key], "two tests of one name: %q", key)
				names[key] = true
			case "testsuite", "testsuites":
				require.Equal(t, fmt.Sprint(o.tests, o.fails, o.skip), fmt.Sprint(o.attributes["tests"]+" "+o.attributes["failures"]+" "+o.attributes["skipped"]))
			}
		}
	}
	require.Empty(t, stack)
}
