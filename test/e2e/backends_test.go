// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// collector is one running collector.
type collector struct {
	*process
	grpc, http, metrics, spanMetrics int
}

// startCollector runs the recommended configuration. What is given as overlay
// lies on top of it.
func startCollector(t *testing.T, name, policy string, backend int, overlay string, environment ...string) *collector {
	t.Helper()
	p := ports(t, 5)
	c := &collector{grpc: p[0], http: p[1], metrics: p[2], spanMetrics: p[3]}
	arguments := []string{"--config", absolute(t, "deploy", "collector", "recommended.yaml")}
	if overlay != "" {
		path := filepath.Join(t.TempDir(), "overlay.yaml")
		write(t, path, overlay)
		arguments = append(arguments, "--config", path)
	}
	c.process = run(t, name, distribution(t), t.TempDir(), append([]string{
		variable("RESULTSEAL_POLICY", policy),
		variable("RESULTSEAL_BACKEND", address(backend)),
		variable("RESULTSEAL_GRPC_PORT", p[0]),
		variable("RESULTSEAL_HTTP_PORT", p[1]),
		variable("RESULTSEAL_METRICS_PORT", p[2]),
		variable("RESULTSEAL_SPAN_METRICS_PORT", p[3]),
		variable("RESULTSEAL_HEALTH_PORT", p[4]),
		variable("RESULTSEAL_SPAN_METRICS_INTERVAL", "1s"),
		variable("RESULTSEAL_ROOT_DELAY", "200ms"),
		variable("RESULTSEAL_DECISION_WAIT", "200ms"),
		variable("RESULTSEAL_SAMPLE_PERCENT", 0),
	}, environment...), page(p[4], "/"), arguments...)
	return c
}

// startJaeger runs Jaeger with the configuration of deploy/jaeger.
func startJaeger(t *testing.T) (query, otlp int) {
	t.Helper()
	p := ports(t, 4)
	run(t, "jaeger", jaegerBinary(t), t.TempDir(), []string{
		variable("JAEGER_QUERY_PORT", p[0]),
		variable("JAEGER_QUERY_GRPC_PORT", p[1]),
		variable("JAEGER_OTLP_PORT", p[2]),
		variable("JAEGER_HEALTH_PORT", p[3]),
	}, page(p[3], "/status"), "--config", absolute(t, "deploy", "jaeger", "config.yaml"))
	return p[0], p[2]
}

// startAlertmanager runs Alertmanager with the configuration of
// deploy/alertmanager, its receiver replaced and its waits shortened.
func startAlertmanager(t *testing.T, webhook string) int {
	t.Helper()
	p := ports(t, 1)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "alertmanager.yaml"), replaced(t, "deploy/alertmanager/alertmanager.yaml",
		"group_wait: 30s", "group_wait: 1s",
		"group_interval: 5m", "group_interval: 2s",
		"  - name: on-call\n", "  - name: on-call\n    webhook_configs: [{url: '"+webhook+"', send_resolved: false}]\n",
	))
	run(t, "alertmanager", installed(t, "alertmanager", "prometheus-alertmanager"), dir, nil, page(p[0], "/-/ready"),
		"--config.file=alertmanager.yaml", "--storage.path=data", "--cluster.listen-address=", "--web.listen-address="+address(p[0]))
	return p[0]
}

// startPrometheus runs Prometheus with the configuration and the rules of
// deploy/prometheus, both shortened.
func startPrometheus(t *testing.T, alertmanager int, collectors []*collector) int {
	t.Helper()
	p := ports(t, 1)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "prometheus.yaml"), replaced(t, "deploy/prometheus/prometheus.yaml", "_interval: 15s", "_interval: 1s"))
	rules, err := filepath.Glob(filepath.Join(top, "deploy", "prometheus", "rules", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, rules)
	for _, path := range rules {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		write(t, filepath.Join(dir, "rules", filepath.Base(path)), shortened(t, string(text)))
	}
	own, spans := "- targets:\n", "- targets:\n"
	for _, c := range collectors {
		own += "    - " + address(c.metrics) + "\n"
		spans += "    - " + address(c.spanMetrics) + "\n"
	}
	write(t, filepath.Join(dir, "targets", "collectors.yaml"), own)
	write(t, filepath.Join(dir, "targets", "span-metrics.yaml"), spans)
	write(t, filepath.Join(dir, "targets", "alertmanagers.yaml"), "- targets: ['"+address(alertmanager)+"']\n")
	run(t, "prometheus", installed(t, "prometheus"), dir, nil, page(p[0], "/-/ready"),
		"--config.file=prometheus.yaml", "--storage.tsdb.path=data", "--enable-feature=exemplar-storage", "--web.listen-address="+address(p[0]))
	return p[0]
}

// value adds up the series of one of the collector's own metrics that have a
// label; a metric that is not there yet is 0.
func (c *collector) value(t *testing.T, name, label string) float64 {
	t.Helper()
	status, body, err := get(t, page(c.metrics, "/metrics"))
	require.NoError(t, err)
	require.Equal(t, 200, status)
	sum := 0.0
	for line := range strings.Lines(string(body)) {
		if series, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok && strings.HasPrefix(series, name+"{") && strings.Contains(series, label) {
			number, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err, line)
			sum += number
		}
	}
	return sum
}
