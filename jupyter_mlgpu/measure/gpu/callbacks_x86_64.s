.intel_syntax noprefix
.text
request:
  movabs r8, 0x1122334455667788
  xor ecx, ecx
1: xor eax, eax
  xchg [r8+rcx*8+0x100], rax
  test rax, rax
  jnz 2f
  inc ecx
  cmp ecx, [r8+0x10]
  jne 1b
  lock inc qword ptr [r8+0x18]
  xor eax, eax
  mov [rdi], rax
  mov [rsi], rax
  mov [rdx], rax
  ret
2: mov rax, [r8+8]
  mov [rsi], rax
  imul rax, rcx
  add rax, [r8]
  mov [rdi], rax
  xor eax, eax
  mov [rdx], rax
  ret
complete:
  movabs r9, 0x1122334455667788
  mov rax, rdx
  sub rax, [r9]
  xor edx, edx
  div qword ptr [r9+8]
  cmp rax, [r9+0x10]
  jae 3f
  inc r8
  mov [r9+rax*8+0x900], r8
3: ret
