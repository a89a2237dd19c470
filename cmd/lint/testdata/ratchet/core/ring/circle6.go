package ring

func f6() { f7() }
