// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import "runtime"

// HeapOf returns how many bytes of the heap the result of build takes.
func HeapOf(build func() any) int64 {
	inUse := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := inUse()
	held := build()
	after := inUse()
	runtime.KeepAlive(held)
	return after - before
}
