package loop

type callback struct{ then func() }
