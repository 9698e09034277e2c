// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// hashOfPolicy is what the collector writes for a policy.
func hashOfPolicy(t *testing.T, text string) string {
	t.Helper()
	p, err := policy.Load("policy.yaml", []byte(text))
	require.NoError(t, err)
	return p.Hash
}

// A running collector takes a policy_file that has changed: an invalid one is logged
// and counted while the last valid one stays, and a valid one evaluates the traces
// that begin after it.
func TestReloadOfPolicyFile(t *testing.T) {
	distribution(t)
	t.Parallel()
	path := writePolicy(t, restartPolicy)
	c := start(t, settings{Processor: append([]string{"policy_file: " + path, "policy_reload_interval: 50ms"}, holding(100*time.Millisecond, time.Hour)...)})
	sender := overHTTP("application/x-protobuf", ptraceotlp.ExportRequest.MarshalProto, ptraceotlp.ExportResponse.UnmarshalProto)(t, c)
	reloads := func(outcome string) float64 {
		return c.metric(t, "otelcol_processor_resultseal_policy_reloads", `outcome="`+outcome+`"`)
	}
	sent := 0
	session := func() (hash, decision string) {
		t.Helper()
		const spans = 4
		td := restartTrace(1+sent, spans)
		require.NoError(t, sender(t.Context(), td))
		sent++
		c.output.await(t, sent*spans)
		for _, r := range c.output.read(t)[(sent-1)*spans:] {
			if h := r.attribute(prefix + "policy.hash"); h != "" {
				hash = h
			}
			if d := r.attribute(prefix + "decision"); d != "" {
				decision = d
			}
		}
		return hash, decision
	}
	requireSession := func(text, decision string) {
		t.Helper()
		hash, got := session()
		require.Equal(t, hashOfPolicy(t, text), hash)
		require.Equal(t, decision, got)
	}
	requireSession(restartPolicy, "sealed")
	require.Zero(t, reloads("applied"))

	broken := strings.Replace(restartPolicy, "claim_type: found", "claim_type: fuond", 1)
	require.NoError(t, os.WriteFile(path, []byte(broken), 0o600))
	c.awaitLog(t, "policy_file is not valid", 1)
	require.EqualValues(t, 1, reloads("invalid"))
	requireSession(restartPolicy, "sealed")

	// As Kubernetes does it: a link takes the place of the file.
	stricter := strings.Replace(restartPolicy, "[total]", "[total, paid]", 1)
	require.NoError(t, os.WriteFile(path+".2", []byte(stricter), 0o600))
	require.NoError(t, os.Symlink(path+".2", path+".link"))
	require.NoError(t, os.Rename(path+".link", path))
	c.awaitLog(t, "policy_file was read again", 1)
	require.EqualValues(t, 1, reloads("applied"))
	requireSession(stricter, "blocked")
	require.EqualValues(t, 1, reloads("invalid"))

	c.signal(t, syscall.SIGTERM)
	<-c.Exited
	require.NoError(t, c.Err)
	for _, line := range c.logLines(t) {
		if line.Level == "error" {
			require.Contains(t, line.text, `\"fuond\" is not known; did you mean \"found\"?`)
		}
	}
}

// With policy: ${file:…} the collector reads its whole configuration again on SIGHUP,
// and a policy that is not valid ends it. Validation refuses the same configuration
// before.
func TestReloadOfConfiguration(t *testing.T) {
	distribution(t)
	t.Parallel()
	path := writePolicy(t, restartPolicy)
	c := start(t, settings{Processor: []string{policyFile(path)}})
	config := filepath.Join(filepath.Dir(c.Log), "config.yaml")
	code, printed := run(t, filepath.Dir(c.Log), "validate", "--config", config)
	require.Zero(t, code, printed)
	c.signal(t, syscall.SIGHUP)
	c.awaitLog(t, "Everything is ready", 2)

	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(restartPolicy, "claim_type: found", "claim_type: fuond", 1)), 0o600))
	code, printed = run(t, filepath.Dir(c.Log), "validate", "--config", config)
	require.NotZero(t, code)
	require.Contains(t, printed, `"fuond" is not known; did you mean "found"?`)
	c.signal(t, syscall.SIGHUP)
	select {
	case <-c.Exited:
		require.Error(t, c.Err)
	case <-time.After(patience):
		t.Fatal("the collector did not end")
	}
}
