package gate

func (*fits) t0() {}
func (*fits) t1() {}
func (*fits) t2() {}
func (*fits) t3() {}
func (*fits) t4() {}

type harness struct{ a, b, c, d bool }
