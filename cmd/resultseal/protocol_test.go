// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// protocol runs "resultseal protocol …".
func protocol(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(append([]string{"protocol"}, args...), strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestProtocolCheck(t *testing.T) {
	const booking = "!Search.?Results.!Present.?Approval.!Book.?Confirmation.end"
	tests := []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{booking}, 0, "ok: 7 states, 6 events, 0 registers\n", ""},
		{[]string{"!a(x as p)"}, 0, "ok: 2 states, 1 event, 1 register\n", ""},
		{
			[]string{"!a.\nrec X.!b"},
			0,
			"ok: 3 states, 2 events, 0 registers\nwarning: 2:5: nothing loops back to 'X'\nrec X.!b\n    ^\n", "",
		},
		{[]string{"!a..!b"}, 2, "", "resultseal: SCHEMA_INVALID: 1:4: expected '!', '?', 'rec', 'end' or a variable, found '.'\n!a..!b\n   ^\n"},
		{[]string{"!a.X"}, 2, "", "resultseal: SCHEMA_INVALID: 1:4: expected a variable of an enclosing rec, found 'X'\n!a.X\n   ^\n"},
		{
			[]string{"!a", "!", "?b.?c"},
			2,
			"protocol 1: ok: 2 states, 1 event, 0 registers\nprotocol 3: ok: 3 states, 2 events, 0 registers\n",
			"resultseal: SCHEMA_INVALID: protocol 2: 1:2: expected a label or '{', found the end\n!\n ^\n",
		},
		{nil, 2, "", "resultseal: INVALID_ARGUMENT: requires at least 1 arg(s), only received 0\n"},
	}
	for _, tt := range tests {
		code, stdout, stderr := protocol("", append([]string{"check"}, tt.args...)...)
		require.Equal(t, tt.code, code, tt.args)
		require.Equal(t, tt.stdout, stdout, tt.args)
		require.Equal(t, tt.stderr, stderr, tt.args)
	}
}

func TestProtocolGraph(t *testing.T) {
	source := "!a(x as p).?{b(x == p), c}"
	code, dot, stderr := protocol("", "graph", source)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, dot, "digraph")
	require.Contains(t, dot, `0 -> 1 [label="!a\nx as p"];`)
	require.Contains(t, dot, `1 -> 2 [label="?b\n[x == p]"];`)
	require.Contains(t, dot, "2 [shape=doublecircle];")

	code, again, _ := protocol("", "graph", "--format", "dot", source)
	require.Equal(t, 0, code)
	require.Equal(t, dot, again)

	code, mermaid, _ := protocol("", "graph", "--format=mermaid", source)
	require.Equal(t, 0, code)
	require.Contains(t, mermaid, "flowchart LR\n")
	require.Contains(t, mermaid, `s0 -->|"!a<br/>x as p"| s1`)

	code, stdout, stderr := protocol("", "graph", "--format", "svg", source)
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Equal(t, "resultseal: INVALID_ARGUMENT: --format \"svg\" is unknown; use dot or mermaid\n", stderr)

	code, _, stderr = protocol("", "graph", "!a.")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "resultseal: SCHEMA_INVALID: 1:4: expected")
	code, _, _ = protocol("", "graph", "!a", "!b")
	require.Equal(t, 2, code)
	code, _, stderr = protocol("", "draw", "!a")
	require.Equal(t, 2, code, stderr)
}

func TestProtocolRun(t *testing.T) {
	source := "rec L.!{read(path as p).L, write(path == p).L, stop}"
	stdin := strings.Join([]string{
		`{"dir":"send","label":"read","payload":{"path":"/a <b>","n":1.0}}`,
		``,
		`{"dir":"receive","label":"Unrecognized"}`,
		` {"dir":"send","label":"write","payload":{"path":"/b"},"peek":true} `,
		`{"dir":"send","label":"write","payload":{"path":"/a \u003cb\u003e"}}`,
		`{"dir":"send","label":"read","payload":{"path":[1.0,{"b":2,"a":1e2}]}}`,
		`{"dir":"send","label":"stop","payload":["no","fields"]}`,
		`{"dir":"send","label":"stop","payload":null}`,
		`{"dir":"send","label":"stop"}`,
	}, "\n")
	want := strings.Join([]string{
		`{"event":"!read","result":"ok","cause":null,"expected":["!read","!stop","!write"],"registers":{"p":"/a <b>"},"terminal":false,"halted":false}`,
		`{"event":"?Unrecognized","result":"unrecognized","cause":null,"expected":["!read","!stop","!write"],"registers":{"p":"/a <b>"},"terminal":false,"halted":false}`,
		`{"event":"!write","result":"violation","cause":"guard","expected":["!read","!stop","!write"],"registers":{"p":"/a <b>"},"terminal":false,"halted":false}`,
		`{"event":"!write","result":"ok","cause":null,"expected":["!read","!stop","!write"],"registers":{"p":"/a <b>"},"terminal":false,"halted":false}`,
		`{"event":"!read","result":"ok","cause":null,"expected":["!read","!stop","!write"],"registers":{"p":[1,{"a":100,"b":2}]},"terminal":false,"halted":false}`,
		`{"event":"!stop","result":"ok","cause":null,"expected":["!read","!stop","!write"],"registers":{"p":[1,{"a":100,"b":2}]},"terminal":true,"halted":false}`,
		`{"event":"!stop","result":"violation","cause":"label","expected":[],"registers":{"p":[1,{"a":100,"b":2}]},"terminal":true,"halted":true}`,
		`{"event":"!stop","result":"blocked","cause":null,"expected":[],"registers":{"p":[1,{"a":100,"b":2}]},"terminal":true,"halted":true}`,
	}, "\n") + "\n"
	code, stdout, stderr := protocol(stdin, "run", source)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, want, stdout)
	require.Empty(t, stderr)
}

func TestProtocolRunErrors(t *testing.T) {
	const good = `{"dir":"send","label":"a"}` + "\n"
	const shape = "expected a JSON object with dir, label, payload and peek, and nothing else"
	for line, message := range map[string]string{
		`nonsense`:                    shape,
		`[]`:                          shape,
		`{"dir":"send","label":"a"`:   shape,
		`{"dir":"send","label":"a"}x`: "expected one object a line",
		`{"dir":"send","label":"a"} {"dir":"send","label":"a"}`: "expected one object a line",
		`{"dir":"send","label":"a","secret":1}`:                 shape,
		`{"dir":"send","label":7}`:                              shape,
		`{"dir":"send"}`:                                        "label is missing",
		`{"dir":"sent","label":"a"}`:                            `dir must be "send" or "receive"`,
		`{"label":"a"}`:                                         `dir must be "send" or "receive"`,
		`null`:                                                  `dir must be "send" or "receive"`,
	} {
		code, stdout, stderr := protocol(good+"\n"+line+"\n"+good, "run", "!a.!a")
		require.Equal(t, 2, code, line)
		require.Equal(t, "resultseal: PARSE_FAILED: standard input:3: "+message+"\n", stderr, line)
		require.Equal(t, 1, strings.Count(stdout, "\n"), "what came before is answered, what comes after is not")
	}
	code, stdout, _ := protocol("", "run", "!a.!a")
	require.Equal(t, 0, code)
	require.Empty(t, stdout)
	code, _, stderr := protocol(good, "run", "!a.b")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "SCHEMA_INVALID")

	code, _, stderr = protocol(`{"dir":"send","label":"`+strings.Repeat("x", maxStepLine)+`"}`, "run", "!a")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "PARSE_FAILED: standard input:1: ")
}

// TestProtocolRunMeasured steps the measured runs through the command, and finds
// the measured answers on its output.
func TestProtocolRunMeasured(t *testing.T) {
	files, err := filepath.Glob("../../internal/session/testdata/conformance/*")
	require.NoError(t, err)
	runs := 0
	for _, file := range files {
		for _, row := range readRows(t, file) {
			var c struct {
				ID       string                       `json:"id"`
				Protocol string                       `json:"protocol"`
				Steps    []map[string]json.RawMessage `json:"steps"`
				Terminal *bool                        `json:"terminal"`
				Halted   bool                         `json:"halted"`
			}
			require.NoError(t, json.Unmarshal(row, &c))
			if c.Terminal == nil {
				continue
			}
			runs++
			var stdin strings.Builder
			for _, s := range c.Steps {
				line := map[string]json.RawMessage{}
				for _, key := range []string{"dir", "label", "payload", "peek"} {
					if v, ok := s[key]; ok {
						line[key] = v
					}
				}
				require.NoError(t, json.NewEncoder(&stdin).Encode(line))
			}
			code, stdout, stderr := protocol(stdin.String(), "run", c.Protocol)
			require.Equal(t, 0, code, "%s: %s", c.ID, stderr)
			answers := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			if len(c.Steps) == 0 {
				require.Empty(t, stdout, c.ID)
				continue
			}
			require.Len(t, answers, len(c.Steps), c.ID)
			for i, s := range c.Steps {
				var got map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(answers[i]), &got))
				require.JSONEq(t, string(s["expect"]), string(got["result"]), "%s, step %d", c.ID, i)
				require.JSONEq(t, string(s["expected_set"]), string(got["expected"]), "%s, step %d", c.ID, i)
				if registers, ok := s["registers"]; ok {
					require.JSONEq(t, string(registers), string(got["registers"]), "%s, step %d", c.ID, i)
				}
				if why, ok := s["why"]; ok {
					require.JSONEq(t, string(why), string(got["cause"]), "%s, step %d", c.ID, i)
				}
				if i == len(c.Steps)-1 {
					var terminal, halted bool
					require.NoError(t, json.Unmarshal(got["terminal"], &terminal))
					require.NoError(t, json.Unmarshal(got["halted"], &halted))
					require.Equal(t, [2]bool{*c.Terminal, c.Halted}, [2]bool{terminal, halted}, c.ID)
				}
			}
		}
	}
	require.Greater(t, runs, 400)
}

// readRows reads the lines of a file, which may be compressed.
func readRows(t *testing.T, file string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var r io.Reader = bytes.NewReader(raw)
	if strings.HasSuffix(file, ".gz") {
		r, err = gzip.NewReader(r)
		require.NoError(t, err)
	}
	var rows [][]byte
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		rows = append(rows, bytes.Clone(lines.Bytes()))
	}
	require.NoError(t, lines.Err())
	return rows
}
