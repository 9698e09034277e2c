// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadata"
)

// resolve goes the way that a collector's configuration goes: through the
// resolver with its providers, then into the component's config. The settings
// are what stands under `resultseal:`.
func resolve(t *testing.T, settings string) (*Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "collector.yaml")
	text := "processors:\n  resultseal:\n    " + strings.ReplaceAll(settings, "\n", "\n    ") + "\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return resolveFile(t, file)
}

func resolveFile(t *testing.T, file string) (*Config, error) {
	t.Helper()
	return resolveProcessor(t, file, "resultseal")
}

// resolveProcessor is the configuration of one of a file's processors.
func resolveProcessor(t *testing.T, file, id string) (*Config, error) {
	t.Helper()
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs: []string{"file:" + file},
		ProviderFactories: []confmap.ProviderFactory{
			fileprovider.NewFactory(), envprovider.NewFactory(), yamlprovider.NewFactory(),
		},
		DefaultScheme: "env",
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, resolver.Shutdown(context.Background())) }()
	conf, err := resolver.Resolve(context.Background())
	require.NoError(t, err)
	processors, err := conf.Sub("processors")
	require.NoError(t, err)
	sub, err := processors.Sub(id)
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	if err := sub.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

func TestDefaultConfig(t *testing.T) {
	cfg := NewFactory().CreateDefaultConfig().(*Config)
	require.NoError(t, componenttest.CheckConfigStruct(cfg))
	require.EqualError(t, cfg.Validate(),
		"a policy is required: set policy, for example to ${file:policy.yaml}, or policy_file")
}

func TestConfigIsRead(t *testing.T) {
	t.Setenv("RESULTSEAL_TEST_KEY", "not a real key")
	cfg, err := resolve(t, `
policy_file: testdata/config/policy.yaml
policy_reload_interval: 5s
mode: stream
root_delay: 1s
idle_timeout: 20s
max_age: 10m
num_shards: 3
max_traces: 7
max_bytes: 1048576
max_spans_per_trace: 8
decided_cache: 9
max_sessions: 11
max_session_bytes: 2048
session_ttl: 2h
max_clock_skew: 90s
storage: file_storage/resultseal
retry:
  initial_interval: 2s
  max_interval: 3s
  max_elapsed_time: 4s
prefix: proved.
annotations:
  record: true
  content_hash: true
  hash_key: ${env:RESULTSEAL_TEST_KEY}
  evaluation_events: true
telemetry:
  max_tools: 5
content: drop
content_arguments: true`)
	require.NoError(t, err)
	require.NoError(t, confmap.Validate(cfg))
	storageID := component.MustNewIDWithName("file_storage", "resultseal")
	require.Equal(t, &Config{
		PolicyFile: "testdata/config/policy.yaml",

		PolicyReloadInterval: 5 * time.Second,

		Mode:             ModeStream,
		RootDelay:        time.Second,
		IdleTimeout:      20 * time.Second,
		MaxAge:           10 * time.Minute,
		NumShards:        3,
		MaxTraces:        7,
		MaxBytes:         1 << 20,
		MaxSpansPerTrace: 8,
		DecidedCache:     9,
		MaxSessions:      11,
		MaxSessionBytes:  2048,
		MaxClockSkew:     90 * time.Second,
		SessionTTL:       2 * time.Hour,
		Storage:          &storageID,
		Retry: configretry.BackOffConfig{
			Enabled: true, InitialInterval: 2 * time.Second, RandomizationFactor: 0.5, Multiplier: 1.5,
			MaxInterval: 3 * time.Second, MaxElapsedTime: 4 * time.Second,
		},
		Prefix: "proved.",
		Annotations: AnnotationsConfig{
			Record: true, ContentHash: true, HashKey: "not a real key", EvaluationEvents: true,
		},
		Telemetry:        TelemetryConfig{MaxTools: 5},
		Content:          ContentDrop,
		ContentArguments: true,
	}, cfg)
	require.NotContains(t, string(mustMarshal(t, cfg)), "not a real key")
}

func mustMarshal(t *testing.T, cfg *Config) []byte {
	t.Helper()
	conf := confmap.New()
	require.NoError(t, conf.Marshal(cfg))
	var text strings.Builder
	for _, key := range conf.AllKeys() {
		text.WriteString(key + ": ")
		if value, ok := conf.Get(key).(string); ok {
			text.WriteString(value)
		}
		text.WriteString("\n")
	}
	return []byte(text.String())
}

// A policy is found wherever it may stand, and means the same.
func TestPolicySources(t *testing.T) {
	text, err := os.ReadFile("testdata/config/policy.yaml")
	require.NoError(t, err)
	indented := strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  ")
	t.Setenv("RESULTSEAL_TEST_POLICY", string(text))
	t.Setenv("RESULTSEAL_TEST_TOOL", "search_customer")
	for name, tc := range map[string]struct {
		settings string
		hasText  bool
	}{
		"in place":             {settings: "policy:\n  " + indented},
		"from a file":          {settings: "policy: ${file:testdata/config/policy.yaml}", hasText: true},
		"from the environment": {settings: "policy: ${env:RESULTSEAL_TEST_POLICY}", hasText: true},
		"as text":              {settings: "policy: |\n  " + indented, hasText: true},
		"policy_file":          {settings: "policy_file: testdata/config/policy.yaml"},
		"with a variable in place": {
			settings: "policy:\n  " + strings.ReplaceAll(indented, "[search_customer]", `["${env:RESULTSEAL_TEST_TOOL}"]`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := resolve(t, tc.settings)
			require.NoError(t, err)
			require.NoError(t, confmap.Validate(cfg))
			require.Equal(t, tc.hasText, cfg.policyText != "")
			p, _, err := cfg.loadPolicy()
			require.NoError(t, err)
			require.Len(t, p.Contracts, 1)
			require.Equal(t, "customer", p.Contracts[0].Name)
			require.Len(t, p.Protocols, 1)
			require.True(t, p.Contracts[0].Match.Matches("search_customer", "any", "any"))
			require.False(t, p.Contracts[0].Match.Matches("get_order", "any", "any"))

			_, err = newTracesProcessor(processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
			require.NoError(t, err)
		})
	}
}

// A bad policy stops the start, and says where it is bad: with the lines of
// the file where the collector has them.
func TestBadPolicyIsShown(t *testing.T) {
	const claim = `5:17: contracts[0].claim_type: `
	const caret = "\n      claim_type: fuond\n                  ^"
	for name, tc := range map[string]struct {
		settings string
		want     []string
	}{
		"from a file": {"policy: ${file:testdata/config/bad_policy.yaml}", []string{
			"the policy is not valid:\npolicy:" + claim, "fuond", "policy:12:",
		}},
		"policy_file": {"policy_file: testdata/config/bad_policy.yaml", []string{
			"testdata/config/bad_policy.yaml:" + claim, "testdata/config/bad_policy.yaml:12:",
		}},
		"in place": {"policy:\n  contracts:\n    - {name: customer, claim_type: fuond}", []string{
			"contracts[0].claim_type: ", "fuond",
		}},
		"not YAML, from a file": {"policy: ${file:testdata/config/broken_policy.yaml}", []string{"policy:2:"}},
		"not YAML, policy_file": {"policy_file: testdata/config/broken_policy.yaml", []string{"broken_policy.yaml:2:"}},
		"no such file":          {"policy_file: testdata/config/missing.yaml", []string{"policy_file cannot be read", "missing.yaml"}},
		"a path as policy":      {"policy: testdata/config/policy.yaml", []string{"policy_file"}},
		"both":                  {"policy_file: a.yaml\npolicy: ${file:testdata/config/policy.yaml}", []string{"policy and policy_file exclude each other"}},
		"neither":               {"root_delay: 1s", []string{"a policy is required"}},
		"nothing":               {"policy:", []string{"a policy is required"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := resolve(t, tc.settings)
			require.NoError(t, err)
			err = confmap.Validate(cfg)
			require.Error(t, err)
			for _, want := range tc.want {
				require.Contains(t, err.Error(), want)
			}
			if strings.Contains(tc.settings, "bad_policy") {
				require.Contains(t, err.Error(), caret)
			}
			_, err = newTracesProcessor(processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
			require.Error(t, err)
		})
	}
}

func TestBadSettings(t *testing.T) {
	for name, tc := range map[string]struct{ settings, want string }{
		"reload":                   {"policy_reload_interval: -1s", "policy_reload_interval must not be negative, got -1s"},
		"root_delay":               {"root_delay: -1s", "root_delay must not be negative, got -1s"},
		"root_delay above max_age": {"root_delay: 6m", "root_delay must not be above max_age (5m0s), which completes the trace before, got 6m0s"},
		"idle_timeout":             {"idle_timeout: 0s", "idle_timeout must be more than 0, got 0s"},
		"max_age":                  {"max_age: 0s", "max_age must be more than 0, got 0s"},
		"max_traces":               {"max_traces: 0", "max_traces must be 1 or more, got 0"},
		"max_bytes":                {"max_bytes: -5", "max_bytes must be 1 or more, got -5"},
		"decided_cache":            {"decided_cache: -1", "decided_cache must not be negative, got -1"},
		"prefix":                   {`prefix: ""`, `prefix must be letters`},
		"prefix end":               {`prefix: resultseal`, `end with '.' or '_', got "resultseal"`},
		"prefix of others":         {`prefix: gen_ai.`, `prefix "gen_ai." covers gen_ai.agent.name, which is read from the spans`},
		"prefix of a resource":     {`prefix: service.`, `prefix "service." covers service.name, which is read from the spans`},
		"prefix of a list":         {`prefix: llm.input_messages.`, `prefix "llm.input_messages." covers llm.input_messages., which`},
		"prefix of a dialect":      {"prefix: acme.\ndialects: {custom: [{name: acme, tool: [{attribute: acme.kind}], tool_name: [x.name]}]}", `prefix "acme." covers acme.kind, which`},
		"prefix of a conversation": {"prefix: acme.\nconversation_attributes: [acme.session]", `prefix "acme." covers acme.session, which`},
		"max_tools":                {"telemetry: {max_tools: 0}", "telemetry::max_tools must be 1 or more, got 0"},
		"max_spans":                {"max_spans_per_trace: -1", "max_spans_per_trace must not be negative, got -1"},
		"num_shards":               {"num_shards: -1", "num_shards must not be negative, got -1"},
		"mode":                     {"mode: both", `mode must be trace or stream, got "both"`},
		"retry":                    {"retry: {max_elapsed_time: 1ms}", "retry: 'max_elapsed_time' must not be less than 'initial_interval'"},
		"max_sessions":             {"max_sessions: -1", "max_sessions must not be negative, got -1"},
		"max_session_bytes":        {"max_session_bytes: 1000", "max_session_bytes must be 1024 or more, got 1000"},
		"session_ttl":              {"session_ttl: 0s", "session_ttl must be more than 0, got 0s"},
		"hash_key":                 {"annotations: {hash_key: k}", "annotations::hash_key needs annotations::content_hash: true"},
		"arguments":                {"content_arguments: true", "content_arguments needs content: hash or drop"},
		"content":                  {"content: burn", `content must be keep, hash or drop, got "burn"`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := resolve(t, "policy_file: testdata/config/policy.yaml\n"+tc.settings)
			require.NoError(t, err)
			require.ErrorContains(t, confmap.Validate(cfg), tc.want)
		})
	}
	t.Run("all at once", func(t *testing.T) {
		cfg, err := resolve(t, "max_traces: 0\nmax_age: 0s")
		require.NoError(t, err)
		err = confmap.Validate(cfg)
		require.ErrorContains(t, err, "max_traces")
		require.ErrorContains(t, err, "max_age")
		require.ErrorContains(t, err, "a policy is required")
	})
	t.Run("unknown key", func(t *testing.T) {
		_, err := resolve(t, "policy: ${file:testdata/config/policy.yaml}\nroot_dealy: 1s")
		require.ErrorContains(t, err, "root_dealy")
		_, err = resolve(t, "policy: ${file:testdata/config/broken_policy.yaml}\nroot_dealy: 1s")
		require.ErrorContains(t, err, "root_dealy")
	})
	t.Run("a policy that reads what is removed", func(t *testing.T) {
		for _, rule := range []string{
			`policy: {protocols: [{name: p, protocol: "!X.end", events: [{label: X, event: span, attributes: {resultseal.decision: sealed}}]}]}`,
			`policy: {contracts: [{name: c, match: {tools: [x]}, claim_type: found, required_fields: [a], freshness: {mode: not_required}, source_ref: "{resource.resultseal.source}", target_ref: t}]}`,
		} {
			cfg, err := resolve(t, rule)
			require.NoError(t, err)
			require.ErrorContains(t, confmap.Validate(cfg), `which is under the prefix "resultseal."`)
			cfg, err = resolve(t, "prefix: second.\n"+rule)
			require.NoError(t, err)
			require.NoError(t, confmap.Validate(cfg))
		}
	})
	t.Run("a list as policy", func(t *testing.T) {
		_, err := resolve(t, "policy: [a]")
		require.ErrorContains(t, err, "policy must be a map of contracts and protocols")
	})
}
