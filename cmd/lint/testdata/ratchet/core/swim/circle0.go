package swim

func (g *wide) f0() { g.f1() }

type wide struct{ in *wide }
