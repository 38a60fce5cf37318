.text
request:
  ldr x8, 5f
  mov x9, #0
  add x10, x8, #0x100
1: add x11, x10, x9, lsl #3
2: ldaxr x12, [x11]
  stlxr w13, xzr, [x11]
  cbnz w13, 2b
  cbnz x12, 3f
  add x9, x9, #1
  ldr x14, [x8, #0x10]
  cmp x9, x14
  b.ne 1b
  add x11, x8, #0x18
4: ldaxr x12, [x11]
  add x12, x12, #1
  stlxr w13, x12, [x11]
  cbnz w13, 4b
  str xzr, [x0]
  str xzr, [x1]
  str xzr, [x2]
  ret
3: ldr x12, [x8, #8]
  str x12, [x1]
  ldr x13, [x8]
  madd x12, x12, x9, x13
  str x12, [x0]
  str xzr, [x2]
  ret
  .balign 8
5: .quad 0x1122334455667788
complete:
  ldr x8, 6f
  ldr x9, [x8]
  sub x10, x2, x9
  ldr x11, [x8, #8]
  udiv x10, x10, x11
  ldr x13, [x8, #0x10]
  cmp x10, x13
  b.hs 7f
  add x12, x4, #1
  add x8, x8, #0x900
  add x8, x8, x10, lsl #3
  stlr x12, [x8]
7: ret
  .balign 8
6: .quad 0x1122334455667788
