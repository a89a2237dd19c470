package swim

type one struct{ in *wide }

type two struct{ in *wide }

func (o *one) start() { o.in.f0() }

func (w *wide) use(o *one, t *two) { o.start(); t.start() }

func use(o one) { o.in.f1() }
