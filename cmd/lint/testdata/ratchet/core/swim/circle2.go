package swim

func (g *wide) f2() { g.f3() }
