// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package wal is a write-ahead log on a storage extension. It knows keys and bytes,
// and nothing of traces.
//
// The log holds entries and records. An entry is a byte string that is appended before
// a batch is accepted, and deleted when it is acknowledged. A record is the content of
// a slot in one of three tables, and is replaced in place. One write of the storage
// holds acknowledgements together with the records that they lead to. So after a kill
// each entry is either still there, or its effect on the records is.
//
// One goroutine writes. The requests that arrive during a write share the next one.
//
// Keys, under one client of the storage:
//
//	layout         which keys there are: a JSON object with the format's version
//	layout/copy    a copy of it
//	G/b/N          how many entries batch N was appended with
//	G/e/N/I        entry I of batch N
//	G/R/d/S/K      slot K of shard S of the table of decisions
//	G/R/c/S/K      slot K of shard S of the table of conversations
//	G/R/v/S/K      slot K of shard S of the table of evicted conversations
//	aside/…        values that could not be read
//
// G is the generation. A storage whose layout cannot be read keeps its content, and a
// new generation begins. R is the resharding epoch: it grows each time that the tables
// are divided among another number of shards. Every value begins with its CRC-32C.
package wal
