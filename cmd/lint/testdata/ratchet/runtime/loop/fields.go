package loop

import "strings"

type fits struct {
	f0  int
	f1  int
	f2  int
	f3  int
	f4  int
	f5  int
	f6  int
	f7  int
	f8  int
	f9  int
	f10 int
	f11 int
	f12 int
	f13 int
	f14 int
	f15 int
	f16 int
	f17 int
	f18 int
	f19 int
}

type grouped struct {
	a, b, c, d, e, f, g, h, i, j int
	k, l, m, n, o, p, q, r, s, t int
	strings.Builder
}

func inside() {
	type local struct {
		f0   int
		f1   int
		f2   int
		f3   int
		f4   int
		f5   int
		f6   int
		f7   int
		f8   int
		f9   int
		f10  int
		f11  int
		f12  int
		f13  int
		f14  int
		f15  int
		f16  int
		f17  int
		f18  int
		f19  int
		last struct{ a, b bool }
	}
}
