// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The agent of examples/agent-js runs, with the packages as they are published,
// and each way in which it can be told to behave comes to its verdict.
func TestAgent(t *testing.T) {
	binary := distribution(t)
	node, npm := installed(t, "node"), installed(t, "npm")
	dir := t.TempDir()
	for _, name := range []string{"agent.mjs", "verdict.mjs", "package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(top, "examples", "agent-js", name))
		require.NoError(t, err)
		write(t, filepath.Join(dir, name), string(text))
	}
	text, ok := output(t, dir, nil, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	require.True(t, ok, text)

	p := ports(t, 2)
	annotated := filepath.Join(dir, "annotated.jsonl")
	c := run(t, "agent-js", binary, top, []string{
		variable("AGENT_HTTP_PORT", p[0]), variable("AGENT_METRICS_PORT", p[1]), variable("AGENT_OUT", annotated),
	}, page(p[1], "/metrics"), "--config", filepath.Join("examples", "agent-js", "collector.yaml"))
	require.Eventually(t, func() bool {
		_, _, err := get(t, page(p[0], "/"))
		return err == nil
	}, patience, 20*time.Millisecond)

	const sealed, empty = "booking: sealed, sealed (SEALED_WITH_REQUIRED_EVIDENCE)\n", "booking: blocked, empty (EMPTY_WITHOUT_NOT_FOUND_SENTINEL)\n"
	readme, err := os.ReadFile(filepath.Join(top, "examples", "agent-js", "README.md"))
	require.NoError(t, err)
	for _, test := range []struct {
		flag, verdict string
		well          bool
	}{
		{"", sealed + "session: compliant\n", true},
		{"--skip-confirmation", sealed + "session: violation\n  confirm-before-cancelling: got !Cancel, expected ?Other or ?Yes\n", false},
		{"--empty-list", empty + "session: compliant\n", true},
		{"--trust-empty-list", empty + "session: violation\n  no-change-on-an-unsealed-fact: got !Change, expected ?Found or ?NotProved\n", false},
	} {
		t.Run("agent "+test.flag, func(t *testing.T) {
			arguments := []string{"agent.mjs"}
			if test.flag != "" {
				arguments = append(arguments, test.flag)
			}
			printed, ok := output(t, dir, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + page(p[0], "")}, node, arguments...)
			require.True(t, ok, printed)
			lines := strings.Fields(printed)
			id := lines[len(lines)-1]
			require.Regexp(t, "^[0-9a-f]{32}$", id, printed)
			var verdict string
			require.Eventually(t, func() bool {
				if text, err := os.ReadFile(annotated); err != nil || !strings.Contains(string(text), id) {
					return false
				}
				verdict, ok = output(t, dir, nil, node, "verdict.mjs", id)
				return strings.Contains(verdict, "session:")
			}, patience, 100*time.Millisecond, "no verdict: %s", verdict)
			require.Equal(t, test.verdict, verdict)
			require.Equal(t, test.well, ok, "the exit code")
			if test.flag != "--empty-list" { // said in words
				require.Contains(t, string(readme), "```\n"+test.verdict+"```", "the page")
			}
		})
	}
	c.stop(t)
}

// A lock file that names a registry would send everybody there; npm fills in the
// one that is configured.
func TestAgentsLockFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "examples", "agent-js", "package-lock.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"integrity"`)
	require.NotContains(t, string(text), `"resolved"`)
}
