// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestScripts runs the files of testdata/scripts, which are also worth reading.
// A line "> !label {payload}" steps an event, "> peek …" peeks; the indented
// lines under it are the answer. "protocol …" starts a monitor of a protocol and
// "restart" a new one of the same.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			script, err := os.ReadFile(file)
			require.NoError(t, err)
			got := runScript(t, string(script))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
				return
			}
			require.Equal(t, string(script), got)
		})
	}
}

// runScript returns the script with the answers that its steps get.
func runScript(t *testing.T, script string) string {
	var out strings.Builder
	var m *Monitor
	for _, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // an answer
		}
		out.WriteString(line + "\n")
		switch command, rest, _ := strings.Cut(line, " "); command {
		case "", "#":
		case "protocol":
			m = compiled(t, rest).NewMonitor()
		case "restart":
			m = m.Automaton().NewMonitor()
		case ">":
			rest, peek := strings.CutPrefix(rest, "peek ")
			event, payloadText, _ := strings.Cut(rest, " ")
			var o Outcome
			if d := direction(event[:1]); peek {
				o = m.Peek(d, event[1:], payload([]byte(payloadText)))
			} else {
				o = m.Step(d, event[1:], payload([]byte(payloadText)))
			}
			answer := []string{o.Result.String()}
			if o.Result == Violation {
				expected := strings.Join(o.Expected, " or ")
				if expected == "" {
					expected = "nothing"
				}
				answer[0] += " (" + o.Cause.String() + "), expected " + expected
			}
			if !peek {
				for _, r := range m.Registers() {
					answer = append(answer, fmt.Sprintf("%s=%s", r.Name, r.Value))
				}
				if m.Terminal() {
					answer = append(answer, "terminal")
				}
			}
			out.WriteString("  " + strings.Join(answer, "; ") + "\n")
		default:
			t.Fatalf("unknown command %q", line)
		}
	}
	return out.String()
}
