package swim

func (g *wide) f6() { g.f7() }
