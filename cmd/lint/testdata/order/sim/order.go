package sim

import (
	"maps"
	"slices"
)

type table map[string]int

func bare(m table) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	for range m {
		out = append(out, "")
	}
	return out
}

func excused(m table) (sum int) {
	//lint:orderfree a sum does not depend on order
	for _, v := range m {
		sum += v
	}
	//lint:orderfree
	for _, v := range m {
		sum += v
	}
	//lint:orderfreely spoken
	for _, v := range m {
		sum += v
	}
	//lint:orderfree it stands too far away

	for _, v := range m {
		sum += v
	}
	return sum
}

func generic[M ~map[K]V, K comparable, V any](m M) (last K) {
	for k := range m {
		last = k
	}
	return last
}

func helpers(m table) []string {
	for range slices.Sorted(maps.Keys(m)) {
		break
	}
	_ = slices.SortedFunc(maps.Values(m), func(a, b int) int { return a - b })
	for range maps.All(m) {
		break
	}
	values := maps.Values(m)
	_ = slices.Sorted(values)
	//lint:orderfree the caller sorts
	_ = slices.Collect(maps.Keys(m))
	return slices.Collect(maps.Keys(m))
}
