package ring

func f3() { f4() }
