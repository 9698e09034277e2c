// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadata"
)

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// NewFactory returns the factory of the processor, to be compiled into a
// collector.
func NewFactory() processor.Factory {
	return processor.NewFactory(
		metadata.Type,
		createDefaultConfig,
		processor.WithTraces(createTraces, metadata.TracesStability),
	)
}

func createTraces(_ context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	return newTracesProcessor(set, cfg.(*Config), next)
}
