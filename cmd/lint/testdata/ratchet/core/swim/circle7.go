package swim

func (g *wide) f7() { g.f0() }
