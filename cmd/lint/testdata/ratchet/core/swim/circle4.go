package swim

func (g *wide) f4() { g.f5() }
