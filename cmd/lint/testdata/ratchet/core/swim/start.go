package swim

func (t *two) start() { use(one{}) }
