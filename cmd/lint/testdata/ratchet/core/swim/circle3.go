package swim

func (g *wide) f3() { g.f4() }
