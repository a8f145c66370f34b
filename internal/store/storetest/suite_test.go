// This file runs the contract of a store: each promise by itself, on a stage of its own, in the words of the ledger.
package storetest

import "testing"

// promise is one thing that a store promises.
type promise struct {
	name string
	keep func(b *bench)
}

// Suite holds a store to the ledger's contract.
func Suite(t *testing.T, open Open) {
	for _, part := range []struct {
		name     string
		promises []promise
	}{
		{"admit", admitting()}, {"order", ordering()}, {"repeat", repeating()}, {"twin", twinning()}, {"hold", holding()},
		{"limit", limiting()}, {"approval", approving()}, {"dispatch", dispatching()}, {"settle", settling()},
		{"sweep", sweeping()}, {"reconcile", reconciling()}, {"deliver", delivering()}, {"run", running()}, {"offer", offering()},
		{"look", looking()}, {"process", beating()}, {"lease", leasing()}, {"notice", noticing()}, {"list", listing()}, {"keep", keeping()},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, p := range part.promises {
				t.Run(p.name, func(t *testing.T) { p.keep(newBench(t, open)) })
			}
		})
	}
}
