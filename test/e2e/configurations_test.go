// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// configured are the environment variables without a default.
func configured(certificates string) []string {
	return []string{
		"LANGFUSE_AUTH=cHVibGljOnNlY3JldA==",
		variable("RESULTSEAL_TLS_CERT", filepath.Join(certificates, "server.crt")),
		variable("RESULTSEAL_TLS_KEY", filepath.Join(certificates, "server.key")),
		variable("RESULTSEAL_CLIENT_CA", filepath.Join(certificates, "ca.crt")),
		variable("RESULTSEAL_BACKEND_CA", filepath.Join(certificates, "ca.crt")),
		variable("RESULTSEAL_STORAGE", certificates),
	}
}

// overlays lie on top of recommended.yaml.
var overlays = map[string]bool{"tls.yaml": true, "storage.yaml": true}

// The distribution takes each configuration as it stands, from the top of the
// repository, where their comments say that they are to be run.
func TestConfigurationsAreValid(t *testing.T) {
	binary := distribution(t)
	certificates := makeCertificates(t)
	paths, err := filepath.Glob(filepath.Join(top, "deploy", "collector", "*.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(paths), 6)
	workers, err := filepath.Glob(filepath.Join(top, "deploy", "scaling", "worker*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, workers)
	for _, path := range append(paths, workers...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			name, err := filepath.Rel(top, path)
			require.NoError(t, err)
			arguments := []string{"validate", "--config", name}
			if overlays[filepath.Base(path)] {
				arguments = []string{"validate", "--config", filepath.Join("deploy", "collector", "recommended.yaml"), "--config", name}
			}
			text, ok := output(t, top, configured(certificates), binary, arguments...)
			require.True(t, ok, text)
		})
	}
	t.Run("it can also say no", func(t *testing.T) {
		text, ok := output(t, top, []string{"RESULTSEAL_POLICY=README.md"}, binary, "validate", "--config", filepath.Join("deploy", "collector", "recommended.yaml"))
		require.False(t, ok, "README.md is no policy: %s", text)
	})
}

// taken is one request that a backend got.
type taken struct {
	path   string
	header http.Header
	spans  int
	sealed int
	events int
}

// web is a backend that takes OTLP over HTTP.
func web(t *testing.T) (string, <-chan taken) {
	t.Helper()
	requests := make(chan taken, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		text, err := io.ReadAll(body)
		request := ptraceotlp.NewExportRequest()
		if err == nil {
			err = request.UnmarshalProto(text)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		got := taken{path: r.URL.Path, header: r.Header.Clone(), spans: request.Traces().SpanCount()}
		for span := range spansOf(request.Traces()) {
			if _, ok := span.Attributes().Get("resultseal.decision"); ok {
				got.sealed++
			}
			for _, e := range span.Events().All() {
				if e.Name() == "gen_ai.evaluation.result" {
					got.events++
				}
			}
		}
		requests <- got
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// start runs one of the small configurations.
func start(t *testing.T, file string, environment ...string) *collector {
	t.Helper()
	p := ports(t, 3)
	c := &collector{grpc: p[0], http: p[1], metrics: p[2]}
	c.process = run(t, file, distribution(t), top, append([]string{
		variable("RESULTSEAL_GRPC_PORT", p[0]),
		variable("RESULTSEAL_HTTP_PORT", p[1]),
		variable("RESULTSEAL_METRICS_PORT", p[2]),
	}, environment...), page(p[2], "/metrics"), "--config", filepath.Join("deploy", "collector", file))
	return c
}

// Langfuse and Phoenix cannot be run here. That spans come to the address, with
// the credentials and in the form that they ask for, can be.
func TestBackendsOverHTTP(t *testing.T) {
	distribution(t)
	for _, test := range []struct {
		file, host, path, authorization string
		environment                     string
		events                          bool
	}{
		{file: "langfuse.yaml", host: "LANGFUSE_HOST", path: "/api/public/otel/v1/traces", authorization: "Basic cHVibGljOnNlY3JldA==", environment: "LANGFUSE_AUTH=cHVibGljOnNlY3JldA==", events: true},
		{file: "phoenix.yaml", host: "PHOENIX_HOST", path: "/v1/traces", authorization: "Bearer key", environment: "PHOENIX_API_KEY=key"},
	} {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			url, requests := web(t)
			c := start(t, test.file, test.host+"="+url, test.environment)
			require.NoError(t, dial(t, c)(newMade("shop").call("lookup_stock", `{"sku":"X"}`, `{"sku":"X","qty":1}`).traces))
			select {
			case got := <-requests:
				require.Equal(t, test.path, got.path)
				require.Equal(t, test.authorization, got.header.Get("Authorization"))
				require.Equal(t, 2, got.spans)
				require.Equal(t, 1, got.sealed)
				require.Equal(t, test.events, got.events > 0)
			case <-time.After(patience):
				t.Fatal("nothing came")
			}
			c.stop(t)
		})
	}
}

func TestBackendsOverGRPC(t *testing.T) {
	distribution(t)
	for file, backend := range map[string]string{"jaeger.yaml": "JAEGER_OTLP", "tempo.yaml": "TEMPO_OTLP"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			r := startRelay(t, 0)
			c := start(t, file, variable(backend, address(r.port)))
			m := newMade("shop").call("lookup_stock", `{"sku":"X"}`, `{"sku":"X","qty":1}`)
			require.NoError(t, dial(t, c)(m.traces))
			require.Eventually(t, func() bool { return r.got()[m.id] == 2 }, patience, 50*time.Millisecond)
			require.Equal(t, map[pcommon.TraceID]int{m.id: 2}, r.got())
			c.stop(t)
		})
	}
}

func TestRules(t *testing.T) {
	promtool := installed(t, "promtool")
	rules, err := filepath.Glob(absolute(t, "deploy", "prometheus", "rules", "*.yaml"))
	require.NoError(t, err)
	tests, err := filepath.Glob(absolute(t, "deploy", "prometheus", "tests", "*.test.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, rules)
	require.NotEmpty(t, tests)
	text, ok := output(t, top, nil, promtool, append([]string{"check", "rules"}, rules...)...)
	require.True(t, ok, text)
	text, ok = output(t, top, nil, promtool, append([]string{"test", "rules"}, tests...)...)
	require.True(t, ok, text)

	// Each alert has a case in which it fires.
	fires := ""
	for _, path := range tests {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		fires += string(content)
	}
	for _, alert := range alertNames(t, rules) {
		fired := strings.Contains(fires, `alertname="`+alert+`", alertstate="firing"`) ||
			strings.Contains(fires, "alertname: "+alert+"\n        exp_alerts:")
		require.True(t, fired, "no case lets %s fire", alert)
	}
}

func TestPrometheusConfiguration(t *testing.T) {
	promtool := installed(t, "promtool")
	for _, targets := range []string{"local", "compose"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "prometheus.yaml"), replaced(t, "deploy/prometheus/prometheus.yaml"))
		require.NoError(t, os.CopyFS(filepath.Join(dir, "rules"), os.DirFS(absolute(t, "deploy", "prometheus", "rules"))))
		require.NoError(t, os.CopyFS(filepath.Join(dir, "targets"), os.DirFS(absolute(t, "deploy", "prometheus", "targets", targets))))
		text, ok := output(t, dir, nil, promtool, "check", "config", "prometheus.yaml")
		require.True(t, ok, text)
		require.NotContains(t, text, "WARNING", targets)
	}
}

func TestAlertmanagerConfiguration(t *testing.T) {
	text, ok := output(t, top, nil, installed(t, "amtool"), "check-config", filepath.Join("deploy", "alertmanager", "alertmanager.yaml"))
	require.True(t, ok, text)
}

func TestSystemdUnit(t *testing.T) {
	analyze := installed(t, "systemd-analyze")
	path := filepath.Join(t.TempDir(), "otelcol-resultseal.service")
	write(t, path, replaced(t, "deploy/systemd/otelcol-resultseal.service", "/usr/local/bin/otelcol-resultseal", distribution(t)))
	text, ok := output(t, top, nil, analyze, "verify", path)
	require.True(t, ok, text)
}
