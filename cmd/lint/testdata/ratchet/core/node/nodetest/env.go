package nodetest

type Env struct{ then, after func() }
