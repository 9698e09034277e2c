// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// reviewed is the time at which the scripts are run.
var reviewed = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// TestDiagnostics loads the policies of the scripts in testdata/diagnostics and
// compares what is said about each. A script is a list of cases:
//
//	=== what the case shows
//	the policy
//	>>>
//	its errors; if there are none, its warnings, folded, and how many are
//	acknowledged; if there are none, "ok"
//
// Lines before the first case are a comment.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/diagnostics/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			comment, cases := readScript(t, string(data))
			var out strings.Builder
			out.WriteString(comment)
			for _, c := range cases {
				got := describeLoad(Load("policy.yaml", []byte(c.text)))
				out.WriteString("=== " + c.title + "\n" + c.text + ">>>\n" + got)
				if !*update {
					require.Equal(t, c.want, got, c.title)
				}
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
			}
		})
	}
}

type scriptCase struct{ title, text, want string }

func readScript(t *testing.T, script string) (comment string, cases []scriptCase) {
	to := &comment
	for line := range strings.Lines(script) {
		title, isTitle := strings.CutPrefix(line, "=== ")
		switch {
		case isTitle:
			cases = append(cases, scriptCase{title: strings.TrimSuffix(title, "\n")})
			to = &cases[len(cases)-1].text
		case line == ">>>\n" && len(cases) > 0:
			to = &cases[len(cases)-1].want
		default:
			*to += line
		}
	}
	for _, c := range cases {
		require.True(t, c.want != "" || *update, "%s: no expectation", c.title)
	}
	return comment, cases
}

// describeLoad writes down what Load answered.
func describeLoad(p *Policy, err error) string {
	var b strings.Builder
	var ds Diagnostics
	if !errors.As(err, &ds) && err != nil {
		return "not diagnostics: " + err.Error() + "\n"
	}
	for _, d := range ds {
		b.WriteString(d.String() + "\n")
	}
	if err == nil {
		review := p.Review(reviewed)
		for _, g := range review.Groups() {
			b.WriteString(g.String() + "\n")
		}
		if review.Acknowledged > 0 {
			fmt.Fprintf(&b, "%d acknowledged\n", review.Acknowledged)
		}
	}
	if b.Len() == 0 {
		return "ok\n"
	}
	return b.String()
}

// A script that expects something else must fail.
func TestDiagnosticsCompare(t *testing.T) {
	_, cases := readScript(t, "about\n=== one\na: 1\n>>>\nok\n=== two\n{}\n>>>\nnothing\nat all\n")
	require.Equal(t, []scriptCase{{"one", "a: 1\n", "ok\n"}, {"two", "{}\n", "nothing\nat all\n"}}, cases)
	require.NotEqual(t, cases[0].want, describeLoad(Load("policy.yaml", []byte(cases[0].text))))
}
