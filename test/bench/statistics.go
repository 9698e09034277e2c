// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"
)

// confidence is that of every interval.
const confidence = 0.95

// summary is the median of a contestant's rounds and the interval in which it is with
// that confidence, by the order of the values alone, as benchstat gives it.
func summary(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), confidence)
}

func median(values []float64) float64 { return medianOf(slices.Clone(values)) }

// medianOf sorts the values.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// ratio is how many times a is of b.
type ratio struct {
	value  float64
	lo, hi float64
}

// resamples is how often the rounds are drawn anew. The ends of the interval then move
// by less than is printed from one seed to the next.
const resamples = 4000

// ratioOf divides the median of a by the median of b. Its interval is a bootstrap's:
// rounds are drawn with replacement, the two values of a round together, since what
// disturbed the one often disturbed the other, and the middle 95 % of the ratios are
// kept. The draw is the same every time.
func ratioOf(a, b []float64) ratio {
	random := rand.New(rand.NewPCG(1, 2))
	ratios := make([]float64, resamples)
	as, bs := make([]float64, len(a)), make([]float64, len(a))
	for i := range ratios {
		for j := range as {
			k := random.IntN(len(a))
			as[j], bs[j] = a[k], b[k]
		}
		ratios[i] = medianOf(as) / medianOf(bs)
	}
	slices.Sort(ratios)
	at := func(q float64) float64 { return ratios[int(q*float64(len(ratios)-1))] }
	return ratio{median(a) / median(b), at((1 - confidence) / 2), at((1 + confidence) / 2)}
}
