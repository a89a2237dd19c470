package swim

func (g *wide) f5() { g.f6() }
