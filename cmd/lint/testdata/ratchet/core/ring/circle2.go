package ring

func f2() { f3() }
