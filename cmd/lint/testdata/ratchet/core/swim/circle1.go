package swim

func (g *wide) f1() { g.f2() }
